"""What follows from a session: derived events, transcript tailing, implicit ends."""
