"""Python client: the native client's counterpart for machines without a compiler.

An agent waits for its start: until it answers in its own process it imports only modules that Python itself has
built in.
"""
