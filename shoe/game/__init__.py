"""The game: cards, one coup, a table's rules, a shoe in play, and the roads it draws."""
