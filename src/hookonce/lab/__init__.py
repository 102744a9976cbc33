"""The lab: real agents, run offline against a scripted model, show what hooks can do to them."""
