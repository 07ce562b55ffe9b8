"""The clauses of regulators that findings are held against, as yardsticks."""
