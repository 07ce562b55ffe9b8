"""What deals in a certification: the compiled kernel, or in a test an engine with a fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from audit.block import Block
from audit.kernel import deal_block, keystream, orders
from audit.keystream import Keys
from shoe.game.rules import Rules


class Engine(NamedTuple):
    """Three pure functions, with the signatures of `audit.kernel`; they must be importable to go to other processes."""

    deal_block: Callable[[Rules, Keys, int, int], Block]
    orders: Callable[[Rules, Keys, Sequence[int]], npt.NDArray[np.uint16]]
    keystream: Callable[[bytes, int, int, int], npt.NDArray[np.uint32]]


KERNEL: Final = Engine(deal_block, orders, keystream)
"""The engine that certifications judge."""
