"""Exports: all records of a span of time in the format asked for, each made in flat memory from one read snapshot.

The canonical archive (`shoe.proof.span`) proves itself. CSV and Parquet are for people and their programs: a row a
record, taken from bytes that were proved before the first row is given out.
"""
