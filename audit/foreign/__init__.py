"""Other people's logs: read line by line, held against the tableau, the shoe and the exact laws; without I/O."""
