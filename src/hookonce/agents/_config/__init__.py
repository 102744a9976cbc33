"""Config formats of agents: what several agents share; each agent's own codec is its `config.py`."""
