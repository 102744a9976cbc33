"""Laboratory: real agents run offline against a scripted model, to prove claims and capture payloads."""
