"""Where things lie and what the user has set."""
