"""The use cases: one transaction each, no HTTP; what a case refuses it raises."""
