"""What other people's programs build on: hooks as functions, agents that run hooks, events of an open format."""
