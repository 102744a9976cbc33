"""What each agent takes for an answer, and how it reads one; one file each."""
