"""How many coups a shoe has, by dealing many at once with numpy's own shuffle; imports nothing of ours.

400,000 shoes each with seed 7 gave 83.429 (8 decks, cut 7), 80.484 and 81.281 (8 decks, cut 14, burn; drawn_in and
one_more), 62.370 (6 decks, cut 7) and 9.734 (1 deck, cut 7), with standard errors of 0.001 to 0.003.
"""

from __future__ import annotations

import numpy as np

POINTS = np.minimum(np.arange(13) + 1, 10) % 10
UP_TO = np.array((3, 3, 4, 4, 5, 5, 6, 6, 2, 3))
SPARE = 12  # cards without meaning behind the shoe, so that ended shoes may be looked at


def count(decks: int, cut: int, *, burn: bool, one_more: bool, shoes: int, seed: int) -> np.ndarray:
    """Coups of each of `shoes` shoes; `cut` cards lie behind the cut card."""
    generator = np.random.Generator(np.random.PCG64(seed))
    size, each = 52 * decks, np.arange(shoes)
    cards = np.zeros((shoes, size + SPARE), dtype=np.int8)
    cards[:, :size] = generator.permuted(np.tile(POINTS.astype(np.int8), (shoes, 4 * decks)), axis=1)
    first = cards[:, 0].astype(np.int64)
    position = 1 + np.where(first == 0, 10, first) if burn else np.zeros(shoes, dtype=np.int64)
    left = np.full(shoes, -1)  # coups still to come, −1 before the cut card is drawn
    coups = np.zeros(shoes, dtype=np.int64)
    while (left != 0).any():
        active = left != 0
        used = _used(cards[each, np.minimum(position + np.arange(6)[:, None], size + SPARE - 1)])
        drawn = (left == -1) & (position + used > size - cut)
        further = np.where(drawn, one_more & (position != size - cut), left - (left > 0))
        coups += active
        left = np.where(active, further, left)
        position = np.where(active, position + used, position)
    return coups


def _used(values: np.ndarray) -> np.ndarray:
    player, banker = (values[0] + values[2]) % 10, (values[1] + values[3]) % 10
    natural = np.maximum(player, banker) >= 8
    player_drew = ~natural & (player <= 5)
    banker_drew = ~natural & np.where(player_drew, banker <= UP_TO[values[4]], banker <= 5)
    return 4 + player_drew + banker_drew
