"""The game, the shuffle and the proofs: pure functions that keep the protocol in SPEC.md.

Nothing here reads a clock, an entropy source, a file, a network or a database; `cryptography` is the
only outside import.
"""
