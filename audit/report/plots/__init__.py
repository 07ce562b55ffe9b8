"""The plots of a report: each makes a figure with its numbers as a table, readable in grey."""
