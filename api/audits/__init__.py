"""Audits of the service's own records: what is read from the store, step by step, and handed to `audit.records`.

A step reads one snapshot for a fraction of a second and writes nothing, so that it may stop at any time. Whoever has
the store can run one; `running` is the service's own way, which claims what was asked for and keeps what is found.
"""
