"""Values that only one outcome of a condition asks for: the sides of a conditional expression, what is right of `and`, `or` and
in chains of comparisons. They are traced as they stand, one after the other; what changes memory is put under the condition."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Collection
from typing import Any

from ...errors import error
from ...frontend.source import tree_of
from ...frontend.structure import is_number, leaves_of, map_leaves
from .memory import Element, Memory
from .values import Val, binary, is_operand, read, select, unary


def acts(function: types.FunctionType, by_reference: Collection[str] = ()) -> bool:
    """Does a function more than give a value? Calls in what it computes are not looked at: each answers for itself."""
    for node in ast.walk(tree_of(function)):
        if isinstance(node, (ast.While, ast.With, ast.Assert)):
            return True
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            return True
        if isinstance(getattr(node, "ctx", None), ast.Store):
            if isinstance(node, (ast.Subscript, ast.Attribute)) or isinstance(node, ast.Name) and node.id in by_reference:
                return True
    return False


class Sides:
    """The part of a trace that knows on which sides of conditions an expression stands."""

    chosen_sides: tuple[tuple[Any, bool], ...] = ()  # conditions, and whether they hold there
    apart: tuple[Any, ...] = ()  # the sides of the last choice, each of which was asked on its side
    native: Any
    b: Any
    open: Any
    dry: int
    condition: Callable[[Any], Any]
    describe: Callable[[Any], str]
    is_value: Callable[[Any], bool]
    line: Callable[[], int]
    region: Callable[..., Any]
    to_value: Callable[..., Any]

    def if_exp(self, test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
        if not self.is_value(test):
            return then() if test else other()
        return select(*self.both_sides(test, then, other))

    def both_sides(self, test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> tuple[Any, Any, Any]:
        test = read(test)  # once: an update on one side may change it
        self.apart = self._side(test, True, then), self._side(test, False, other)
        return test, *self.apart

    def right_side(self, left: Any, holds: bool, right: Callable[[], Any]) -> tuple[Any, Any]:
        left = read(left)
        return left, self._side(left, holds, right)

    def kept(self, value: Any) -> Any:
        return read(value)

    def _side(self, test: Any, holds: bool, value: Callable[[], Any]) -> Any:
        before, self.chosen_sides = self.chosen_sides, (*self.chosen_sides, (test, holds))
        try:
            given = value()
        finally:
            self.chosen_sides = before
        if given is None:
            hint = "an update gives what was there with return_prev=True; or write an `if` statement"
            raise error(TypeError, "one side of a condition that is known at run time only gives no value", hint=hint)
        if isinstance(given, (str, tuple, list, Memory)):
            what = f"the buffer `{given.label()}`" if isinstance(given, Memory) else self.describe(given)
            hint = "a choice at run time is one between numbers; write an `if` statement for others"
            raise error(TypeError, f"{what} stands on a side of a condition that is known at run time only", hint=hint)
        return given

    def where_chosen(self, make: Callable[[], Any]) -> Any:
        """What `make` gives, which is done only where the sides around are taken; elsewhere its numbers are 0."""
        sides, self.chosen_sides = self.chosen_sides, ()
        if not sides:
            return make()
        try:
            taken: Any = None
            for test, holds in sides:
                one = self.condition(test) if holds else unary("not", self.condition(test))
                taken = one if taken is None else binary("and", taken, one)
            self.b.if_begin(taken)
            with self.region("if", self.line()):
                given = map_leaves(read, make())
                leaves = [leaf for leaf in leaves_of(given) if self.is_value(leaf)]
            if any(not (self.is_value(x) or is_number(x) or x is None) for x in leaves_of(given)):
                text = "what is made on a side of a condition that is known at run time only lasts on that side"
                raise error(TypeError, text, hint="return numbers, or write an `if` statement")
            self.b.if_else()
            results = iter(self.b.if_end(leaves, [self.to_value(0, self.b.type_of(leaf)) for leaf in leaves]))
            return map_leaves(lambda leaf: next(results) if self.is_value(leaf) else leaf, given)
        finally:
            self.chosen_sides = sides

    # -- updates whose results have no name yet ----------------------------------------------------------------------
    def asked(self, old: Any) -> Any:
        """What an update gives where the program asks for it."""
        if not self.dry:
            self.open.unnamed.append(old)
        return old

    def named(self, value: Any) -> Any:
        """A value that a name is given."""
        if self.open is not None and self.open.unnamed:
            self.open.unnamed = [old for old in self.open.unnamed if not self._of_update(value, [old])]
        return value

    def _of_update(self, value: Any, updates: list[Any]) -> bool:
        if isinstance(value, Element):
            return any(self._of_update(index, updates) for index in value.indices)
        return isinstance(value, Val) and any(self.native.depends_on(value, old) for old in updates)

    def check_apart(self, what: str, *sides: Any) -> None:
        """Refuses a choice whose sides have been asked before it was called, if an update was made for one of them."""
        if self.open is None or not self.open.unnamed:
            return
        for side in sides:
            if is_operand(side) and not any(side is one for one in self.apart) and self._of_update(side, self.open.unnamed):
                text = f"{what} is called with a side whose update has been made already, whether the side is taken or not"
                hint = "call it by its name in the kernel, or in a @T.macro, or write an `if` statement; a name for the update's "
                raise error(ValueError, text, hint=hint + "result makes it whatever is taken")
