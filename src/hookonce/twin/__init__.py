"""The native client's twin in Python, for machines without a compiler.

Its start is what an agent waits for: until it goes cold nothing is imported but what Python is made of.
"""
