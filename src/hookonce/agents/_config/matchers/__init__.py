"""Tool matchers: canonical matchers written and read in each agent's own syntax."""
