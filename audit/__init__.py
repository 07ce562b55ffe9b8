"""Is it true? Exact probabilities and the tests that hold what was seen against them."""
