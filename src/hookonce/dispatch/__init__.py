"""One call of an agent: request, hook selection, runs, merge, reply.

`dispatcher` takes a call from argv and bytes to its answer; `pipeline` is the way of its request: `select`, `run`,
`vocabulary/decision_merge`, reply.
"""
