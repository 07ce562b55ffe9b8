"""The log's check of itself: at every start, whole by command, and bit by bit beside the running service.

`start` looks at the head, what it stands on and the end of the log; `recompute` makes everything anew from the records'
bytes; `auditor` does the same in small steps; `succession` stands before every signature.
"""
