"""Webhooks: what the log records, told to those who asked, by Standard Webhooks 1.0.0."""
