"""Audits of an operator's own records: fixed by a plan before anything is counted, judged from counts handed in.

What is checked without chance comes first: the log's head, the order of commitments, every bundle, the rows beside
the records. Only then the statistics, on coups 1…K of shoes that have ended.
"""
