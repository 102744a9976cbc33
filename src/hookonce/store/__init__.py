"""What is kept, and what must never be."""
