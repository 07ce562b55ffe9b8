"""Backup and restore: the whole database as one file, from one snapshot, alike from SQLite and PostgreSQL.

The file is a tar in gzip: `manifest.json`, then a member for each table, a row a line. Its tables and columns are those
of the schema it was made at; secrets stay encrypted as they are, and the vault's key is not in it.
"""
