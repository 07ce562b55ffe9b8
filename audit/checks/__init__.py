"""The checks: each holds a tally against an exact null and answers with one CheckResult."""
