"""Judgement: what an action looks like, and what it gives away."""
