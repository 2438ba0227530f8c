"""Compares two cores on generated policies and facts: `python tests/fuzz/run.py [--minutes M] [--left NAME] [--right NAME]`.

Every policy has constructs of the whole language, every history facts of all kinds; after each fact both cores must have decided the
same, byte for byte. Ends with 0 where nothing differs, and with 1 at the first difference (or after `--differences` of them). Each is made
small and written into a folder (`--out`); `--again FOLDER` plays such a folder again. The same seed gives the same policies and facts.
Ctrl-C stops it: what was counted until then is shown, and it ends with 130 where nothing differed.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_args

from branches import counted
from constructs import FACTS, constructs
from cores_by_name import CORES, Side
from fuzzing import Tally, fuzz_one, load, save
from gpol.cli.shared.output import STOPPED
from gpol.engine.event_parts import DeferralOutcome, EvictionKind, LimitKind, ObstacleKind
from gpol.engine.events import DeferralReason
from player import LAW, Case, DifferenceError, difference
from shrink import Shrinking
from worlds import SIZES

KINDS = (*get_args(EvictionKind), *get_args(DeferralOutcome), *get_args(DeferralReason))
UNCOMPILED = ("array", "careful")
"""The cores whose kernels run as they stand."""

WHYS = (*(f"limit: {each}" for each in get_args(LimitKind)), *(f"obstacle: {each}" for each in get_args(ObstacleKind)))
"""Kinds of decisions, and of what they rest on, of which it is told where none occurred."""


def main(arguments: list[str] | None = None) -> int:
    """Compare, and tell what came of it."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    left, right = CORES[asked.left], CORES[asked.right]
    if asked.again is not None:
        return again(asked.again, left, right, asked.placed)
    if asked.ends_every < 1:
        parser.error("--ends-every is 1, for every history, or more")
    if asked.placed and (asked.crowded or asked.left != "definition"):
        parser.error("--placed holds laws to the definition, as --left, and goes without --crowded")
    if asked.branches and asked.right not in UNCOMPILED:
        parser.error(f"--branches counts in {' or '.join(UNCOMPILED)}: name one of them with --right")
    seed = random.randrange(2**32) if asked.seed is None else asked.seed
    placed = ", with places" if asked.placed else ""
    print(f"{asked.left} and {asked.right}, seed {seed}, {asked.facts} facts in each history{placed}", flush=True)
    if not asked.branches:
        return compared(asked, left, right, seed)
    with counted() as branches:
        ended = compared(asked, left, right, seed)
    branches.report()
    return ended


def compared(asked: argparse.Namespace, left: Side, right: Side, seed: int) -> int:
    """Compare as often as was asked for."""
    tally, begin, number, told, stopped = Tally(), time.monotonic(), asked.first, 0, False
    try:
        while not _enough(asked, tally, time.monotonic() - begin):
            _one(asked, left, right, seed, number, tally)
            number += 1
            if time.monotonic() - begin >= 60 * (told + 5):
                told += 5
                print(f"{told} minutes, {tally.cases:,} histories, {tally.facts:,} facts, {tally.differences} differences", flush=True)
    except KeyboardInterrupt:
        stopped = True
        print(f"\nstopped in history {number}", flush=True)
    report(tally, time.monotonic() - begin, whole_language=not asked.placed)
    return 1 if tally.differences else STOPPED if stopped else 0


def _one(asked: argparse.Namespace, left: Side, right: Side, seed: int, number: int, tally: Tally) -> None:
    """Play one history, and make it small where the cores differ."""
    in_cycles = number % 2 == 1 and not asked.crowded
    whole = number // 2 % asked.ends_every == 0
    found = fuzz_one(f"{seed}/{number}", in_cycles, left, right, asked.facts, tally, asked.sizes, asked.crowded, asked.placed, whole)
    if found is not None:
        out = asked.out if asked.differences == 1 else asked.out / str(tally.differences)
        sizes = "" if asked.sizes == SIZES else f" --sizes {' '.join(asked.sizes)}"
        kind = " --crowded" if asked.crowded else " --placed" if asked.placed else ""
        shrunk(*found, left, right, out, f"--seed {seed} --first {number} --facts {asked.facts}{sizes}{kind}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", type=int, help="stop once so many policies were drawn; 200 where no time is given either")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--facts", type=int, default=500, help="facts of one history")
    parser.add_argument(
        "--ends-every",
        type=int,
        default=1,
        metavar="NUMBER",
        help="of so many histories one is asked all questions and replayed at its end",
    )
    parser.add_argument("--seed", type=int, help="where the choices come from; a new one in every run if it is left out")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="the first history of that seed; even ones decide at once")
    parser.add_argument("--placed", action="store_true", help="on racks and nodes where pods get places; the laws of places are held, too")
    parser.add_argument("--sizes", nargs="+", choices=sorted(set(SIZES)), default=SIZES, help="of amounts; all if it is left out")
    parser.add_argument("--crowded", action="store_true", help="decide at once, with long lines of workloads most of which wait for room")
    parser.add_argument("--branches", action="store_true", help="count the branches of uncompiled kernels that are taken; takes longer")
    parser.add_argument("--left", choices=CORES, default="definition")
    parser.add_argument("--right", choices=CORES, default="array")
    parser.add_argument("--differences", type=int, default=1, metavar="NUMBER", help="go on until so many are found")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="where the smallest case that differs is written")
    parser.add_argument("--again", type=Path, metavar="FOLDER", help="play the case in this folder, and no other")
    return parser


def _enough(asked: argparse.Namespace, tally: Tally, seconds: float) -> bool:
    """Whether as much was played, or found to differ, as was asked for."""
    most = 200 if asked.policies is None and asked.minutes is None else asked.policies
    played = (most is not None and tally.policies >= most) or (asked.minutes is not None and seconds >= 60 * asked.minutes)
    return played or tally.differences >= asked.differences


def shrunk(case: Case, found: DifferenceError, left: Side, right: Side, out: Path, seed: str) -> None:
    """Make a case small, write it into a folder and show it."""
    print(f"\nthe cores differ after {len(case.facts)} facts of {seed}\n{str(found)[:4000]}\n\nmaking it small", flush=True)
    shrinking = Shrinking(case, left, right)
    small = shrinking.run()
    last = difference(small, left, right, shrinking.seldom)
    about = f"{seed}\n\n{last[0] if last is not None else found}"
    save(small, out, about)
    print(f"{len(small.facts)} facts are left after {shrinking.tries} tries, written to {out}\n")
    print("\n".join(small.texts), *(json.dumps(fact) for fact in small.facts), "", about[:4000], sep="\n", flush=True)


def again(folder: Path, left: Side, right: Side, placed: bool) -> int:
    """Play a case from its folder."""
    found = difference(replace(load(folder), placed=placed), left, right)
    print("nothing differs" if found is None else f"after {found[1]} facts: {found[0]}")
    return 0 if found is None else 1


# --- what was drawn and seen ----------------------------------------------------------------------------------------


def report(tally: Tally, seconds: float, whole_language: bool) -> None:
    """Show how often everything was drawn and decided; constructs of the language only where policies have those of the whole language."""
    if whole_language:
        _constructs(tally)
    _table("facts and what they say", {name: tally.fact_fields[name] for name in FACTS})
    laws = {what: count for what, count in sorted(tally.decisions.items()) if what.startswith(LAW)}
    _table("laws of places, and to what they were held", {what.removeprefix(LAW): count for what, count in laws.items()})
    decisions = {what: count for what, count in sorted(tally.decisions.items()) if what not in laws}
    _table("decisions and refusals", decisions)
    words = [word for decision in decisions for word in decision.replace(" ", ", ", 1).split(", ")]
    print("never decided:", ", ".join(sorted({*KINDS, *WHYS} - {*words} - {*decisions})) or "nothing")
    _table("policies that the compiler refused, by code", tally.refused)
    print(f"{tally.cases:,} histories, {tally.policies:,} policies, {sum(tally.refused.values()):,} refused by the compiler")
    print(f"{tally.facts:,} facts, {tally.facts / max(seconds, 1e-9):,.0f} a second, both cores together")
    print(f"{tally.differences} differences", flush=True)


def _constructs(tally: Tally) -> None:
    drawn = constructs({text: tally.under[text] for text in tally.texts})
    print(f"\n{'policies':>9} {'facts':>11}  with this construct of the language\n")
    for name, (policies, facts) in drawn.items():
        print(f"{policies:9,} {facts:11,}  {name}")
    print("\nnever drawn:", ", ".join(name for name, (policies, _) in drawn.items() if policies == 0) or "nothing")


def _table(title: str, counts: dict[str, int] | Counter[str]) -> None:
    """Counts below a title, in two columns."""
    if not counts:
        return
    print(f"\n{title}\n")
    cells = [f"{count:9,} {name}" for name, count in counts.items()]
    half = (len(cells) + 1) // 2
    for index in range(half):
        print("".join(f"{cell:<66}" for cell in cells[index::half]).rstrip())
    print()


if __name__ == "__main__":
    sys.exit(main())
