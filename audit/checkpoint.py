"""A run's checkpoint: which blocks are done and what they counted, in one file that is replaced as a whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from audit.counts import RunCounts
from audit.encoding import Arrays, decode, encode
from audit.plan import Plan
from shoe.errors import InputError, expected

FORM: Final = "fairshoe/checkpoint/2"
_HEAD: Final = "head"


@dataclass(frozen=True, slots=True)
class Done:
    """What a run has done so far: the numbers of the finished tasks, and their counts added up."""

    tasks: frozenset[int] = frozenset()
    counts: RunCounts = field(default_factory=RunCounts)

    def plus(self, task: int, counts: RunCounts) -> Done:
        """Add one finished task."""
        return Done(self.tasks | {task}, self.counts + counts)


def save(path: Path, plan: Plan, done: Done) -> None:
    """Write a checkpoint beside `path`, and put it in its place once all of it is on the disk.

    Whoever reads meets the old file or the new one, never half of either. Raises OSError.
    """
    arrays: Arrays = {}
    head = {
        "form": FORM,
        "plan_hash": plan.hash.hex(),
        "done": list(_ranges(sorted(done.tasks))),
        "counts": encode(done.counts, arrays),
    }
    text = np.frombuffer(json.dumps(head).encode("ascii"), np.uint8)
    beside = path.with_name(f"{path.name}.part")
    with open(beside, "wb") as file:
        np.savez(file, allow_pickle=False, **{_HEAD: text, **arrays})
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def load(path: Path, plan: Plan) -> Done:
    """Read the checkpoint of a plan; where there is no file, nothing is done yet.

    Raises InputError for a file that is cut short or damaged, and for the checkpoint of another plan.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Done()
    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        head = json.loads(arrays[_HEAD].tobytes())
        if head["form"] != FORM:
            raise InputError(expected(FORM, head["form"], str(path)))
        tasks = frozenset(task for first, last in head["done"] for task in range(first, last + 1))
        planned = bytes.fromhex(head["plan_hash"])
        counts = _counts(head["counts"], arrays)
    except (BadZipFile, EOFError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: damaged or cut short ({error}); delete it to begin anew") from None
    if planned != plan.hash:
        raise InputError(expected(f"the checkpoint of plan {plan.hash.hex()}", planned.hex(), str(path)))
    return Done(tasks, counts)


def _counts(encoded: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> RunCounts:
    counts = decode(encoded, arrays)
    if not isinstance(counts, RunCounts):
        raise InputError(expected("the counts of a run", type(counts).__name__, "counts"))
    return counts


def _ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """List runs of successive numbers as first and last."""
    first = last = None
    for number in numbers:
        if first is not None and last is not None and number != last + 1:
            yield first, last
            first = None
        first, last = number if first is None else first, number
    if first is not None and last is not None:
        yield first, last
