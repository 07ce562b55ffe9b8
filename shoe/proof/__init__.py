"""The proofs: seeds, stream, shuffle, openings, trees, signed notes, records, bundles and their verifier."""
