"""Bets: what can be wagered on at a table, on what terms, and what each coup pays. Integers and exact ratios only."""
