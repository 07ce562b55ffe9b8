"""Print the table of samples at which bad shuffles are caught, as Markdown, in about three minutes.

Run as ``python -m tests.write_bad_shuffle_table``; the table of audit/METHODS.md is made so.
"""

from __future__ import annotations

from tests.audit import bad_shuffle_power as power
from tests.audit.bad_shuffle_power import SAMPLED, Power, Shuffle, fair, order_power
from tests.reference import bad_shuffles

TABLES = 400
HEADER = """\
| shuffle | statistic | theory | measured | tables caught at these shoes | sound ones | all checks, 100 shoes |
|---|---|---|---|---|---|---|"""

SHUFFLES: dict[str, tuple[Shuffle, str, tuple[int, ...]]] = {
    "one riffle": (bad_shuffles.one_riffle, "rising_sequences", (1, 2)),
    "off by one": (bad_shuffles.off_by_one, "cycles", (2, 3)),
    "swap with any card": (bad_shuffles.swap_with_any_card, "draw_mean", (5, 6, 7, 8)),
    "rotated digest": (bad_shuffles.rotated_digest, "interplay", (36, 40, 44, 48, 52, 56)),
}
SEEDS = (70_000, 77_164, 130_000, 135_000, 140_639, 145_000, 150_000)
MODULO = tuple(range(52_000, 74_001, 2_000))


def need_of(name: str) -> int:
    """What theory asks for."""
    return {
        "one riffle": power.riffle_need(),
        "off by one": power.single_cycle_need(),
        "swap with any card": power.normal_need(*power.swap_shift()),
        "rotated digest": power.interplay_need()[1],
        "32-bit seed": power.small_seed_need(power.POWER),
        "modulo on 16 bits": power.normal_need(*power.modulo_shift()),
    }[name]


def row(name: str) -> str:
    """One shuffle that few orders betray."""
    shuffle, check, sizes = SHUFFLES[name]
    measured = order_power(shuffle, (f"batch_{check}",), sizes, TABLES)
    sound = order_power(fair, (f"batch_{check}",), (measured.need(),), TABLES)
    together = order_power(shuffle, SAMPLED, (power.LEAST_SAMPLE,), TABLES // 4)
    return _row(name, check, measured, _share(sound), _share(together))


def _row(name: str, check: str, measured: Power, *shares: str) -> str:
    each = ", ".join(f"{shoes:,}: {count / measured.tables:.3f}" for shoes, count in measured.caught.items())
    numbers = [f"{need_of(name):,}", f"{measured.need():,}"]
    return f"| {' | '.join([name, check, *numbers, f'{each} (of {measured.tables:,})', *shares])} |"


def _share(measured: Power) -> str:
    (count,) = measured.caught.values()
    return f"{count} of {measured.tables}"


if __name__ == "__main__":
    print(HEADER)
    for each_name in SHUFFLES:
        print(row(each_name), flush=True)
    sound_sample = _share(order_power(fair, SAMPLED, (power.LEAST_SAMPLE,), TABLES // 4))
    print(_row("32-bit seed", "duplicate_shoes", power.small_seed_power(SEEDS, 1_000), "", ""), flush=True)
    print(_row("modulo on 16 bits", "draw_mean", power.modulo_power(MODULO, TABLES), "", ""), flush=True)
    print(f"\nm = {power.CHECKS}, p at most {power.LEVEL:.3g}. Sound tables, all checks, 100 shoes: {sound_sample}.")
    print(f"Modulo: Σ w moves by {power.modulo_shift()[0]:.5f} a shoe, spread {power.modulo_shift()[1]:.6f}, exact.")
    print(f"Swap with any card: {power.swap_shift()[0]:.3f}, {power.swap_shift()[1]:.3f}.")
    print(f"Digest: noncentrality {power.interplay_need()[0]:.3f} a shoe.")
    print(f"32-bit seed, one half: {power.small_seed_need(0.5):,} shoes.")
