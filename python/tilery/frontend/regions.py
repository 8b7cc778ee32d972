"""Run-time `if`, `for` and `while`: branches and bodies are traced, and the names they change become results of the region.

A loop body is traced twice: dry, into a scratch that is thrown away, to find the names that change; then for real with those
carried.
Inside a dry trace one pass is enough, so nested loops cost their depth, not two to its power."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import error, with_article
from .assignments import last_lines
from .jumps import DONE, RESULT
from .structure import Leaf, Mismatch, Number, Undefined, children, fill, is_number, leaves_of, map_leaves, pair
from .trace import Region, Trace

_HOST_LOOP_LIMIT = 100_000
Names = tuple[str, ...]
Getter = Callable[[], Sequence[Any]]
Putter = Callable[[Sequence[Any]], object]


def _key(number: Number) -> tuple[type, str]:
    return type(number), repr(number)


def _mirrored(item: Callable[[Any], Any] | None, first: Any, size: Any) -> Callable[[Any], Any]:
    """The variable of a loop that goes down by `size`, of a counter that goes up by 1."""

    def at(count: Any) -> Any:
        value = first - count * size
        return item(value) if item else value

    return at


@dataclass
class Loop:
    """A run-time range; bounds are values or ints. `attributes` are hints, `item` makes the loop variable's value of the
    counter."""

    lo: Any
    hi: Any
    step: Any
    attributes: Mapping[str, Any] = field(default_factory=dict)
    item: Callable[[Any], Any] | None = None


class Regions(Trace):
    # -- what a language tells ---------------------------------------------------------------------------------------
    def host(self, value: Any) -> Any:
        """A compile-time wrapper's plain value; other values as they are."""
        return value

    def condition(self, value: Any) -> Any:
        """A run-time condition as the builder wants it, or an error (a tile is no condition)."""
        return value

    def is_value(self, value: Any) -> bool:
        """Is this a symbolic (run-time) value?"""
        raise NotImplementedError

    def to_value(self, number: Any, like: Any = None) -> Any:
        """A host number as a value; of the type `like` (as `b.type_of` gives it) if that is given, to which a value that widens
        to it is converted, too."""
        raise NotImplementedError

    def takes(self, type_: Any, number: Number) -> bool:
        """May a host number become a value of this type when a branch or an iteration merges the two?"""
        raise NotImplementedError

    def widens(self, type_: Any, wider: Any) -> bool:
        """Does a value of one type become one of another where a branch or an iteration merges the two?"""
        return False

    def cells(self) -> Iterable[Any]:
        """Run-time variables that are not local names: objects with a `name` and a `value` that regions must carry too."""
        return ()

    def carried_type(self, name: str, before: Any, after_type: Any) -> Any:
        """A loop changes a variable's type: returns `before` converted to `after_type`, or raises."""
        if self.widens(self.b.type_of(before), after_type):
            return self.to_value(before, after_type)
        raise error(
            TypeError,
            f"the loop changes the type of `{name}` from {self.b.type_of(before)} to {after_type}",
            hint=f"give `{name}` the type {after_type} before the loop, or convert it at the end of the body",
        )

    # -- helpers -----------------------------------------------------------------------------------------------------
    @contextmanager
    def region(self, kind: str, line: int) -> Iterator[None]:
        self.regions.append(Region(kind, line))
        try:
            yield
        finally:
            self.regions.pop()

    @contextmanager
    def scratch(self) -> Iterator[None]:
        self.b.scratch_begin()
        self.dry += 1
        yield  # after an error the whole trace is given up, so nothing is undone
        self.dry -= 1
        self.b.scratch_discard()

    def state(self, names: Names, get: Getter, put: Putter) -> tuple[Names, Getter, Putter]:
        """Names and cells as one list."""
        cells = list(self.cells())
        if not cells:
            return names, lambda: list(get()), put

        def get_all() -> list[Any]:
            return [*get(), *(c.value for c in cells)]

        def put_all(values: Sequence[Any]) -> None:
            put(values[: len(names)])
            for cell, value in zip(cells, values[len(names) :]):
                cell.value = value

        return (*names, *(c.name for c in cells)), get_all, put_all

    def is_flag(self, name: str) -> bool:
        return name == DONE or name.endswith(("_break", "_continue")) and name.startswith("__t_loop")

    # -- if ----------------------------------------------------------------------------------------------------------
    def run_if(
        self,
        condition: Any,
        then: Callable[[], Any],
        other: Callable[[], Any],
        names: Names,
        get: Getter,
        put: Putter,
        line: int,
        at_end: bool = False,
    ) -> None:
        """`at_end`: nothing of the function runs after it, so only the result is merged."""
        count = len(names)
        names, get, put = self.state(names, get, put)
        before = get()
        self.b.if_begin(condition)
        with self.region("if", line):
            then()
        after_then = get()
        constants = {}  # what the first branch yields must be built inside it, before it is known which numbers differ
        for leaf in leaves_of(tuple(after_then)):
            if is_number(leaf) and _key(leaf) not in constants:
                constants[_key(leaf)] = self.to_value(leaf)
        put(before)
        self.b.if_else()
        with self.region("if", line):
            other()
        after_else = get()
        left, right = self._leaves(names, before, after_then), self._leaves(names, before, after_else)
        leaves: list[tuple[Any, Any]] = []
        plans = []
        for name, old, a, b in zip(names, before, after_then, after_else):
            plans.append(
                old
                if at_end and name in names[:count] and name != RESULT
                else self._merge(name, old, a, b, left, right, leaves, line)
            )
        results = self.b.if_end(
            [constants[_key(a)] if is_number(a) else a for a, _ in leaves],
            [self.to_value(b) if is_number(b) else b for _, b in leaves],
        )
        put([fill(plan, results) for plan in plans])

    def _leaves(self, names: Names, before: Sequence[Any], after: Sequence[Any]) -> str | None:
        """How a branch always leaves: "return", "jump" (`break`, `continue`), or None if it may go on."""
        set_here = {n for n, old, new in zip(names, before, after) if self.is_flag(n) and new is True and old is not True}
        return "return" if DONE in set_here else "jump" if set_here else None

    def _merge(
        self, name: str, old: Any, a: Any, b: Any, left: str | None, right: str | None, leaves: list[tuple[Any, Any]], line: int
    ) -> Any:
        """The plan of a name after an `if`. left and right: how each branch leaves, if it does: "return", "jump" or None."""
        if a is b:
            return a
        for missing, value, leaves_early in ((a, b, left), (b, a, right)):
            if isinstance(missing, Undefined):
                if isinstance(value, Undefined):
                    return value
                # Until the function's end the result is read only where a `return` was passed.
                if leaves_early or name == RESULT:
                    return self._against_nothing(value, missing is a, leaves)
                if missing.reason and missing is not old:  # the branch says itself what became of it
                    return missing
                reason = f"`{name}` is defined in only one branch of the `if` in line {line}"
                return Undefined(name, reason, line, f"give `{name}` a value before the `if`, or in both branches")
        mark = len(leaves)
        try:
            plan = pair(self.is_value, a, b, leaves)
            for x, y in leaves[mark:]:
                if not self._one_type(x, y):
                    raise Mismatch(None if x is a else f"{self.describe(x)} in one branch and {self.describe(y)} in the other")
            return plan
        except Mismatch as e:
            del leaves[mark:]
            if name != RESULT and "return" in (left, right) and left != right:  # only the other branch's value is seen again
                return self._against_nothing(b if left == "return" else a, left == "return", leaves)
            reason = self.difference(name, a, b, e.args[0], line)
            return Undefined(name, reason, line, "give both branches the same type", TypeError)

    def difference(self, name: str, a: Any, b: Any, reason: str | None, line: int) -> str:
        """Why the values that a name has after the two branches of an `if` cannot be one."""
        if name == RESULT and (a is None or b is None):
            return f"a value is returned in only one branch of the `if` in line {line}"
        what = "the result" if name == RESULT else f"`{name}`"
        if reason is None or isinstance(a, (tuple, list)) or hasattr(a, "__tile_words__"):
            places = [f" (line {n})" if n else "" for n in self._assigned(line, name)]
            first, second = places if len(places) == 2 else ("", "")
            reason = f"{self.describe(a)} in one branch{first} and {self.describe(b)} in the other{second}"
        return f"{what} is {reason} (`if` in line {line})"

    def _assigned(self, line: int, name: str) -> list[int | None]:
        """Where the blocks of the `if` or loop in this line assign the name last."""
        return last_lines(self.active[-1][0], line, name) if self.active else []

    def _one_type(self, x: Any, y: Any) -> bool:
        if is_number(x) or is_number(y):
            number, other = (x, y) if is_number(x) else (y, x)
            return type(number) is type(other) if is_number(other) else self.takes(self.b.type_of(other), number)
        one, other = self.b.type_of(x), self.b.type_of(y)
        return one == other or self.widens(one, other) or self.widens(other, one)

    def _stays(self, type_: Any, after_type: Any) -> bool:
        """Does a variable of a loop keep its type where a value of another one is assigned to it?"""
        return type_ == after_type or self.widens(after_type, type_)

    def describe(self, value: Any) -> str:
        value = self.host(value)
        if self.is_value(value):
            return str(self.b.type_of(value))
        if is_number(value):
            return f"the host value {value!r}"
        if hasattr(value, "__tile_words__"):
            return str(value.__tile_words__)
        if isinstance(value, (tuple, list)):
            parts = ", ".join(repr(v) if is_number(v := self.host(part)) else self.describe(v) for part in value)
            return f"{with_article(type(value).__name__)} of {len(value)} ({parts})"
        if value is None or isinstance(value, str):
            return "None" if value is None else f"the text {value!r}"
        return f"the type {value}" if hasattr(value, "__tile_dtype__") else f"a host {type(value).__name__}"

    def _against_nothing(self, value: Any, first: bool, leaves: list[tuple[Any, Any]]) -> Any:
        """Merges a value with "don't care"."""

        def leaf(v: Any) -> Any:
            if not self.is_value(v):
                return v
            leaves.append((None, v) if first else (v, None))
            return Leaf(len(leaves) - 1)

        return map_leaves(leaf, value)

    # -- loops -------------------------------------------------------------------------------------------------------
    def _dry_run(
        self,
        names: Names,
        before: Sequence[Any],
        get: Getter,
        put: Putter,
        body: Callable[..., Any],
        kind: str,
        line: int,
        own: Names = (),
    ) -> tuple[list[Any], list[Any], list[Any], list[bool]]:
        """Traces a body without effect until the set of carried leaves is stable. Returns (before with carried numbers made
        values, plans,
        carried leaves): a plan per name, None for a name that is local to the body. `own`: a loop's own variables, which each
        iteration sets; what they were before may be of another type."""
        before = list(before)
        local = [isinstance(v, Undefined) and n != RESULT for n, v in zip(names, before)]
        for _ in range(len(names) + 3):
            origin: dict[int, tuple[Any, Any]] = {}
            fixes: dict[int, tuple[str, Any, Any]] = {}

            def placeholder(v: Any) -> Any:
                if not self.is_value(v):
                    return v
                new = self.b.placeholder(v)
                origin[id(new)] = (v, new)
                return new

            with self.scratch(), self.region(kind, line):
                start = [map_leaves(placeholder, v) for v in before]
                put(start)
                body()
                after = get()
                leaves: list[tuple[Any, Any]] = []
                plans: list[Any] = []
                for i, (name, s, a) in enumerate(zip(names, start, after)):
                    if local[i]:
                        plans.append(None)
                        continue
                    if isinstance(s, Undefined):  # the function's result, first set inside
                        plans.append(s)
                        if not isinstance(a, Undefined):
                            fixes[i] = ("result", a, [self.b.type_of(v) for v in leaves_of(a) if self.is_value(v)])
                        continue
                    mark = len(leaves)
                    try:
                        if isinstance(a, Undefined):
                            raise Mismatch(None)
                        plans.append(pair(self.is_value, s, a, leaves))
                        if name in own and not all(self._one_type(x, y) for x, y in leaves[mark:]):
                            raise Mismatch(None)
                    except Mismatch:
                        del leaves[mark:]
                        plans.append(None)
                        fixes[i] = ("local", self._changed(name, s, a, kind, line), None)
                        continue
                    for x, y in leaves[mark:]:
                        after_type = self.b.type_of(y) if self.is_value(y) else None
                        if is_number(x):
                            fixes.setdefault(i, ("numbers", [], None))[1].append((x, after_type))
                        elif after_type is not None and not self._stays(self.b.type_of(x), after_type):
                            fixes.setdefault(i, ("types", [], None))[1].append((origin[id(x)][0], after_type))
                if not fixes:
                    carried = [origin[id(x)][0] for x, _ in leaves]
            if not fixes:
                # What the body leaves as it is keeps the value from before the loop, not the dry trace's stand-in.
                unchanged = [map_leaves(lambda v: origin[id(v)][0] if id(v) in origin else v, p) for p in plans]
                return before, unchanged, carried, local
            for i, (what, data, types) in fixes.items():
                if what == "local":
                    local[i] = True
                    before[i] = data
                elif what == "result":
                    kinds = iter(types)
                    before[i] = map_leaves(lambda v: self.b.zero(next(kinds)) if self.is_value(v) else v, data)
                else:
                    before[i] = self._fix(names[i], before[i], what, list(data))
        raise error(RuntimeError, f"the types of the variables of the `{kind}` in line {line} do not settle")

    def _changed(self, name: str, old: Any, new: Any, kind: str, line: int) -> Undefined:
        """What a variable is that changes in a loop to what the loop cannot carry."""
        if isinstance(new, Undefined):
            reason = new.reason or f"`{name}` has no value at the end of the `{kind}` in line {line}"
            return Undefined(name, reason, line, new.hint, new.kind)
        place = "".join(f" (line {n})" for n in self._assigned(line, name) if n)
        change = f"from {self.describe(old)} to {self.describe(new)}{place}"
        reason = f"`{name}` is changed by the `{kind}` in line {line} {change}"
        if any(children(v) is not None or self.is_value(v) for v in (old, new)):
            hint = f"let `{name}` be of one type before the loop and at the end of its body, or use another name inside"
        else:
            hint = "only run-time values can be carried from one iteration to the next"
        return Undefined(name, reason, line, hint, TypeError)

    def _fix(self, name: str, value: Any, what: str, changes: list[tuple[Any, Any]]) -> Any:
        def leaf(v: Any) -> Any:
            for j, (old, after_type) in enumerate(changes):
                if what == "numbers" and is_number(v) and type(v) is type(old) and v == old or what == "types" and v is old:
                    del changes[j]
                    if what == "numbers":
                        return self.to_value(v, after_type)
                    return self.carried_type(name, v, after_type)
            return v

        return map_leaves(leaf, value)

    def _body_values(
        self, plans: list[Any], local: list[bool], before: Sequence[Any], names: Names, args: Sequence[Any], kind: str, line: int
    ) -> list[Any]:
        return [
            Undefined(n, getattr(old, "reason", None), None, getattr(old, "hint", None), getattr(old, "kind", NameError))
            if is_local
            else fill(p, args)
            for n, p, is_local, old in zip(names, plans, local, before)
        ]

    def _yields(self, plans: list[Any], local: list[bool], values: Sequence[Any], count: int) -> list[Any]:
        """The carried leaves of the state at the end of the body, in order."""
        out = [None] * count

        def collect(plan: Any, value: Any) -> None:
            if isinstance(plan, Leaf):
                out[plan.index] = value
                return
            parts = children(plan)
            if parts is not None and not self.is_value(plan):
                for p, v in zip(parts, children(value) or ()):
                    collect(p, v)

        for plan, is_local, value in zip(plans, local, values):
            if not is_local:
                collect(plan, value)
        return out

    def _finish(
        self,
        names: Names,
        plans: list[Any],
        local: list[bool],
        before: Sequence[Any],
        results: Sequence[Any],
        put: Putter,
        kind: str,
        line: int,
    ) -> None:
        out = []
        for name, plan, is_local, old in zip(names, plans, local, before):
            if is_local:
                reason = (
                    getattr(old, "reason", None)
                    or f"`{name}` is defined only inside the `{kind}` of line {line}, which may not run"
                )
                hint = getattr(old, "hint", None) or f"give `{name}` a value before the loop"
                out.append(Undefined(name, reason, line, hint, getattr(old, "kind", NameError)))
            else:
                out.append(fill(plan, results))
        put(out)

    def run_for(
        self, loop: Loop, body: Callable[..., Any], names: Names, get: Getter, put: Putter, line: int, own: Names = ()
    ) -> None:
        names, get, put = self.state(names, get, put)
        lo, hi, step, item = loop.lo, loop.hi, loop.step, loop.item
        if is_number(step) and step < 0:  # mirrored: the counter goes up
            first, size = lo, -step
            count = (lo - hi + (size - 1)) // size
            lo, hi, step = 0, count, 1
            item = _mirrored(item, first, size)

        def run(i: Any) -> None:
            body(item(i) if item else i)

        def dry() -> None:
            i, _ = self.b.for_begin(lo, hi, step, [], loop.attributes)
            run(i)
            self.b.for_end([])

        before, plans, carried, local = self._dry_run(names, get(), get, put, dry, "for", line, own)
        if self.dry:
            results = [self.b.placeholder(v) for v in carried]
        else:
            i, args = self.b.for_begin(lo, hi, step, carried, loop.attributes)
            with self.region("for", line):
                put(self._body_values(plans, local, before, names, args, "for", line))
                run(i)
            yields = self._yields(plans, local, get(), len(carried))
            results = self.b.for_end([self._as_carried(y, c) for y, c in zip(yields, carried)])
        self._finish(names, plans, local, before, results, put, "for", line)

    def _as_carried(self, value: Any, like: Any) -> Any:
        type_ = self.b.type_of(like)
        return self.to_value(value, type_) if is_number(value) or self.b.type_of(value) != type_ else value

    def run_while(
        self, test: Any, body: Callable[..., Any], names: Names, get: Getter, put: Putter, may_stop: bool, line: int
    ) -> None:
        plain_names, plain_get, plain_put = names, get, put
        names, get, put = self.state(names, get, put)
        for _ in range(_HOST_LOOP_LIMIT):
            before = get()
            with self.scratch(), self.region("while", line):
                first = self.host(test())
                if not self.is_value(first) and first and may_stop:  # the condition may become a run-time one by a `break`
                    body()
                    if self.is_value(again := self.host(test())):
                        first = again
            put(before)
            if self.is_value(first):
                return self._run_while(test, body, plain_names, plain_get, plain_put, line)
            if not first:
                return None
            body()
        raise error(
            RuntimeError, f"the `while` in line {line} does not end at compile time", hint="its condition never becomes false"
        )

    def _run_while(self, test: Any, body: Callable[..., Any], names: Names, get: Getter, put: Putter, line: int) -> None:
        names, get, put = self.state(names, get, put)

        def dry() -> None:
            self.b.while_begin([])
            self.b.while_body(self._condition(test()))
            body()
            self.b.while_end([])

        before, plans, carried, local = self._dry_run(names, get(), get, put, dry, "while", line)
        if self.dry:
            results = [self.b.placeholder(v) for v in carried]
        else:
            args = self.b.while_begin(carried)
            with self.region("while", line):
                put(self._body_values(plans, local, before, names, args, "while", line))
                args = self.b.while_body(self._condition(test()))
                put(self._body_values(plans, local, before, names, args, "while", line))
                body()
            yields = self._yields(plans, local, get(), len(carried))
            results = self.b.while_end([self._as_carried(y, c) for y, c in zip(yields, carried)])
        self._finish(names, plans, local, before, results, put, "while", line)

    def _condition(self, value: Any) -> Any:
        value = self.host(value)
        return self.condition(value if self.is_value(value) else self.to_value(bool(value)))
