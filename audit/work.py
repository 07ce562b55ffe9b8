"""One block of a plan's work, as a pure function of the plan: any process, anywhere, counts the same."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt

from audit.battery import PathName
from audit.checks.bits import SEQUENCE
from audit.checks.bits.evidence import unpack_bits
from audit.checks.bits.second_level import add_up_bits, tally_bits
from audit.counts import Dealt, PathCounts, RunCounts
from audit.draw_counts import count_draws, draws_of
from audit.engine import KERNEL, Engine
from audit.paths import keys_of
from audit.plan import Plan, Task, draws_a_shoe, shoes_a_sequence
from audit.replay import PAIR, Replayed, replay_pair
from audit.shuffle_counts import count_shuffles


def count_task(plan: Plan, task: Task, engine: Engine = KERNEL) -> RunCounts:
    """Do one of `plan.tasks()` and give its counts."""
    counts = _COUNTERS[task.kind](plan, task, engine)
    return RunCounts(batch=counts) if task.path == "batch" else RunCounts(production=counts)


def _count_shoes(plan: Plan, task: Task, engine: Engine) -> PathCounts:
    keys, places = keys_of(plan, task.path, range(task.first, task.first + task.count))
    return PathCounts(dealt=Dealt.of(engine.deal_block(plan.rules, keys, places[0], task.count), task.first))


def _count_orders(plan: Plan, task: Task, engine: Engine) -> PathCounts:
    sizes = plan.sizes(task.path)
    stride = sizes.shoes // sizes.sampled
    keys, places = keys_of(plan, task.path, range(task.first * stride, (task.first + task.count) * stride, stride))
    orders = engine.orders(plan.rules, keys, places)
    return PathCounts(shuffles=count_shuffles(orders), draws=count_draws(draws_of(orders)))


def _count_bits(plan: Plan, task: Task, engine: Engine) -> PathCounts:
    sequences = range(task.first, task.first + task.count)
    return PathCounts(bits=add_up_bits(tally_bits(sequence_of_bits(plan, task.path, s, engine)) for s in sequences))


def sequence_of_bits(plan: Plan, path: PathName, sequence: int, engine: Engine = KERNEL) -> npt.NDArray[np.uint8]:
    """Give 10^6 bits of the keystream words that shoes draw from, each byte's highest bit first."""
    sizes, words, shoes = plan.sizes(path), draws_a_shoe(plan.rules), shoes_a_sequence(plan.rules)
    first = sequence * (sizes.shoes // sizes.sequences)
    keys, _ = keys_of(plan, path, range(first, first + shoes))
    if isinstance(keys, bytes):
        stream = engine.keystream(keys, first, shoes, words)
    else:
        stream = np.concatenate([engine.keystream(key, 0, 1, words) for key in keys])
    return unpack_bits(stream.astype("<u4").tobytes(), SEQUENCE)


def _replay(plan: Plan, task: Task, engine: Engine) -> PathCounts:
    keys, places = keys_of(plan, task.path, range(task.first, task.first + task.count))
    pairs = (replay_pair(plan.rules, keys, first, engine) for first in places[::PAIR])
    return PathCounts(replayed=reduce(add, pairs, Replayed(0, 0, Counter())))


_COUNTERS = {"shoes": _count_shoes, "sampled": _count_orders, "sequences": _count_bits, "replayed": _replay}
