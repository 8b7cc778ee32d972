"""Plans of pipelined loops that a program writes by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import Place, error

# Buffers read, written, how many more it may count as, may it leave the loop or the iteration, where.
Statement = tuple[Sequence[int], Sequence[int], int, bool, Sequence[Place]]


class Plan:
    """`order`: places of the statements of T.Pipelined in the pipeline, `stage`: how many iterations later each runs. `group`:
    lists of the statements' numbers that share an entry. -1 is for statements that bring in what the others use."""

    def __init__(self, order: Sequence[int] | None, stage: Sequence[int] | None, group: Sequence[Sequence[int]] | None) -> None:
        self.order, self.stage = _integers("order", order), _integers("stage", stage)
        self.group = None if group is None else [_integers("group", members) for members in _sequence("group", group)]
        self._check_lengths()
        self._check_order()
        self._check_groups()

    def _check_lengths(self) -> None:
        lists = [(name, len(entries)) for name, entries in vars(self).items() if entries]
        for name, length in lists[1:]:
            if length != lists[0][1]:
                raise error(
                    ValueError,
                    f"`{lists[0][0]}` of T.Pipelined has {lists[0][1]} entries, `{name}` has {length}",
                    hint="each has one for every statement of the loop",
                )
        for place, (k, n) in enumerate(zip(self.order, self.stage)):
            if (k < 0) != (n < 0):
                raise error(
                    ValueError, f"entry {place} is -1 in one of `order` and `stage` of T.Pipelined, {max(k, n)} in the other"
                )

    def _check_order(self) -> None:
        places = [n for n in self.order if n >= 0]
        twice = next((n for k, n in enumerate(places) if n in places[:k]), None)
        if twice is not None:
            raise error(
                ValueError, f"two statements of T.Pipelined have the same order {twice}", hint="each has a place of its own"
            )
        if places and max(places) >= len(places):
            raise error(
                ValueError,
                f"`order` of T.Pipelined has the place {max(places)} of {len(places)} statements, got {list(self.order)}",
                hint=f"the places are 0 to {len(places) - 1}, each once",
            )

    def _check_groups(self) -> None:
        members = sorted(n for group in self.group or () for n in group)
        if members != list(range(len(members))):
            raise error(
                ValueError,
                f"`group` of T.Pipelined holds the numbers of the loop's statements, each once, got {self.group!r}",
                hint="count them from 0",
            )

    def check(self, statements: Sequence[Statement], orderings: int, stops: bool) -> None:
        """Is it one for a body of these statements? Loads on lines of their own may count as some, and so may `orderings`:
        statements that only order others (T.sync_threads). Branches with nothing but a `break` may be left out; a body that
        `stops` may end with one, which is no statement here."""
        expected = sum(map(len, self.group)) if self.group else len(self.order or self.stage)
        least = len(statements) - _repeated(statements) - sum(jump and not writes for _, writes, _, jump, _ in statements)
        most = len(statements) + sum(apart for _, _, apart, _, _ in statements) + orderings + stops
        if not least <= expected <= most:
            lines = [str(where[0][1]) for *_, where in statements if where]
            raise error(
                ValueError,
                f"the plan of T.Pipelined is for {expected} statements, and the loop's body has {len(statements)}"
                + (f" (line{'s' * (len(lines) > 1)} {', '.join(lines)})" if lines else ""),
                hint="`order` and `stage` have an entry for every statement of the body, `group` its number",
            )
        if expected == len(statements) and self.stage and not orderings:
            self._check_dependences(statements)

    def _check_dependences(self, statements: Sequence[Statement]) -> None:
        entry = {k: place for place, members in enumerate(self.group or ()) for k in members} if self.group else {}
        for first, second in _dependences(statements):
            a, b = entry.get(first, first), entry.get(second, second)
            if a == b or min(self.stage[a], self.stage[b]) < 0:
                continue
            who = f"statement {second}{_line(statements[second])} of T.Pipelined reads what statement {first}"
            who += f"{_line(statements[first])} writes"
            if self.stage[a] > self.stage[b]:
                raise error(
                    ValueError,
                    f"{who}, which is in the later stage {self.stage[a]}, not in {self.stage[b]} or before",
                    hint=f"give statement {second} stage {self.stage[a]} or a later one",
                )
            if self.order and self.stage[a] == self.stage[b] and self.order[a] > self.order[b]:
                raise error(
                    ValueError,
                    f"{who}, and comes before it in `order` within stage {self.stage[a]}",
                    hint=f"give statement {second} a later place, or a later stage",
                )


def _sequence(name: str, entries: Any) -> Sequence[Any]:
    if not isinstance(entries, (list, tuple)):
        raise error(TypeError, f"`{name}` of T.Pipelined is a list, got {entries!r}")
    return entries


def _integers(name: str, entries: Any) -> Sequence[int]:
    entries = _sequence(name, [] if entries is None else entries)
    if any(isinstance(n, bool) or not isinstance(n, int) or n < -1 for n in entries):
        raise error(ValueError, f"`{name}` of T.Pipelined has an integer for each statement of the loop, got {entries!r}")
    return entries


def _repeated(statements: Sequence[Statement]) -> int:
    """How many go on with what the one before, of the same place in the program, began."""
    places = [where for *_, where in statements]
    return sum(bool(here) and list(here) == list(before) for before, here in zip(places, places[1:]))


def _dependences(statements: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """(the one that writes, the one after it that reads that)."""
    for second, (reads, *_) in enumerate(statements):
        for first in range(second):
            if set(reads) & set(statements[first][1]):
                yield first, second


def _line(statement: Statement) -> str:
    *_, where = statement
    return f" (line {where[0][1]})" if where else ""
