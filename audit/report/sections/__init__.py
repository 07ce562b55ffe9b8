"""The sections of a report, each built from the findings alone or with what is told beside them."""
