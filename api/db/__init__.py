"""The store: its tables, its sessions and its migrations."""
