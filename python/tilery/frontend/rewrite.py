"""Turns a function into one whose control flow, assignments and calls go through hooks (see language.py).

Names stay Python locals. The bodies of `if`, `for` and `while` become nested functions that share them (`nonlocal`), with a
getter and a
setter of the names the region may assign, so that the trace can run a branch, take its values, put the old ones back and run
the other."""

from __future__ import annotations

import ast
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from ..errors import Error, error
from . import position
from .jumps import RESULT, Guard, JumpLowering, mark, mark_of
from .names import Comprehension, assigned, bound_in_comprehension, dotted, parameters
from .operators import COMPARISONS
from .source import tree_of

HOOKS = "__t_hooks__"
Prepare = Callable[[ast.FunctionDef], ast.FunctionDef]
Node = TypeVar("Node", bound=ast.AST)
Placed = ast.stmt | ast.expr
_REFUSED: dict[type[ast.AST], str] = {
    ast.Try: "`try`",
    ast.With: "`with`",  # of languages that have none
    ast.AsyncFunctionDef: "`async def`",
    ast.AsyncFor: "`async for`",
    ast.AsyncWith: "`async with`",
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield from`",
    ast.ClassDef: "`class`",
    ast.Global: "`global`",
    ast.Match: "`match`",
}
if hasattr(ast, "TryStar"):
    _REFUSED[ast.TryStar] = "`try`"
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


@dataclass
class Rewritten:
    """One function's rewritten code; `bind` makes it callable under a set of hooks. `tree`: the code as Python's."""

    code: types.CodeType
    tree: ast.FunctionDef

    def bind(self, function: types.FunctionType, hooks: Any) -> types.FunctionType:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        cells[HOOKS] = types.CellType(hooks)
        closure = tuple(cells[name] for name in self.code.co_freevars)
        bound = types.FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__, closure)
        bound.__kwdefaults__ = function.__kwdefaults__
        bound.__qualname__ = function.__name__  # what Python calls it where a call's arguments do not fit
        return bound


# By the function's code, and as long as that lives: programs make kernels, use them and drop them.
Kind = tuple[str, Prepare | None, bool, bool]  # file, prepare, narrow, has_with
_cache: weakref.WeakKeyDictionary[types.CodeType, dict[Kind, Rewritten]] = weakref.WeakKeyDictionary()


def rewrite(
    function: types.FunctionType, prepare: Prepare | None = None, narrow: bool = False, has_with: bool = True
) -> Rewritten:
    """Rewrites a function once; later calls return the same code. `prepare` changes the function's tree before, as a language
    needs it. `narrow`: values of names from outside go through a hook, and functions inside the function are refused.
    `has_with`: the language takes `with`."""
    kinds = _cache.setdefault(function.__code__, {})
    key = function.__code__.co_filename, prepare, narrow, has_with
    found = kinds.get(key)
    if found is None:
        found = kinds[key] = _rewrite(function, prepare, narrow, has_with)
    return found


def _rewrite(function: types.FunctionType, prepare: Prepare | None, narrow: bool, has_with: bool) -> Rewritten:
    definition = tree_of(function)
    if prepare is not None:
        definition = prepare(definition)
    file = function.__code__.co_filename
    if not has_with:
        for node in ast.walk(definition):
            if isinstance(node, ast.With):
                raise _refusal(node, file, definition)
    new = (_NarrowFunction if narrow else _Function)(definition, file, set(), _choices(function)).definition()
    new.decorator_list = []
    new.name = "__t_function"  # so that a recursive function still finds itself where it did
    # A factory around the function makes the hooks and the closure's names free variables, so that its own cells can be put in.
    free = sorted({HOOKS, *function.__code__.co_freevars})
    factory = ast.FunctionDef(
        "__t_factory",
        ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, []),
        [new, ast.Return(ast.Name(new.name, ast.Load()))],
        [],
    )
    module = ast.Module([_place(factory, definition)], [])
    try:
        outer = compile(module, file, "exec", dont_inherit=True)
    except SyntaxError as e:
        raise error(SyntaxError, e.msg, chain=[(file, e.lineno or definition.lineno, e.offset or 1, definition.name)]) from None
    factory_code = next(c for c in outer.co_consts if hasattr(c, "co_code"))
    code = next(c for c in factory_code.co_consts if hasattr(c, "co_code") and c.co_name == new.name).replace(
        co_name=definition.name
    )
    position.register(code, definition.name)
    return Rewritten(code, new)


def _choices(function: types.FunctionType) -> set[str]:
    """Names that a function has from outside, of functions that look at one of two sides."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    around = {name: cell.cell_contents for name, cell in cells if cell != types.CellType()}
    values = {**{n: function.__globals__[n] for n in function.__code__.co_names if n in function.__globals__}, **around}
    return {name for name, value in values.items() if isinstance(value, types.FunctionType) and hasattr(value, "_is_lazy")}


def _place(new: Node, old: Placed) -> Node:
    """Gives a new node, and the new ones below it, the place of an old one."""
    place = old.lineno, old.col_offset, old.end_lineno, old.end_col_offset
    pending: list[Any] = [new]
    while pending:
        node = pending.pop()
        if node._attributes:
            if hasattr(node, "lineno"):
                continue
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = place
        pending.extend(ast.iter_child_nodes(node))
    return new


def _constant(words: Sequence[str]) -> ast.Constant:
    value: Any = tuple(words)  # which ast's stubs do not know as a constant
    return ast.Constant(value)


def _refusal(node: Any, file: str, function: ast.FunctionDef) -> Error:
    return error(
        SyntaxError,
        f"{_REFUSED[type(node)]} is not supported in a kernel",
        hint="move it out of the kernel, to the code that launches it",
        chain=[(file, node.lineno, node.col_offset + 1, function.name)],
    )


class _Function(ast.NodeTransformer):
    """Rewrites one function definition (and, through new instances, those nested in it)."""

    def __init__(self, definition: ast.FunctionDef, file: str, outer_names: set[str], choices: set[str]) -> None:
        self.node, self.file = definition, file
        self.choices = choices  # names from outside of functions that look at one of two sides
        self.parameters = parameters(definition.args)
        self.body = JumpLowering().function(list(definition.body))
        names, self.shared = assigned(self.body)
        inherited = {n for s in definition.body if isinstance(s, ast.Nonlocal) for n in s.names}
        self.outer = outer_names  # names of the rewritten functions around this one
        self.locals = [n for n in names if n not in inherited]
        self.inherited = sorted(inherited)
        self.shadowed: list[str] = []
        self.count = 0

    def refused(self, node: Any) -> NoReturn:
        raise _refusal(node, self.file, self.node)

    def definition(self) -> ast.FunctionDef:
        body: list[ast.stmt] = []
        node, statements = self.node, self.body
        if statements and isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
            body.append(statements[0])
            statements = statements[1:]
        start = statements[0] if statements else node
        unset = [n for n in self.locals if n not in self.parameters]
        if unset:
            value = self.hook("undefined", [], start)
            for name in unset:
                each = ast.Call(value.func, [ast.Constant(name)], [])
                body.append(self.at(ast.Assign([ast.Name(name, ast.Store())], each), start))
        declared = [s for s in statements if isinstance(s, ast.Nonlocal)]
        body = [*declared, *body] + self.block([s for s in statements if not isinstance(s, ast.Nonlocal)], tail=True)
        if RESULT in self.locals:
            place = {"lineno": node.lineno, "col_offset": node.col_offset, "end_lineno": node.lineno}
            word = ast.Pass(**place, end_col_offset=node.col_offset + len("def"))  # calls over several lines begin in the last
            body.append(self.at(ast.Return(self.hook("returned", [ast.Name(RESULT, ast.Load())], word)), statements[-1]))
        new = ast.FunctionDef(node.name, node.args, body or [ast.Pass()], node.decorator_list, node.returns, node.type_comment)
        return self.at(new, node)

    # -- pieces ------------------------------------------------------------------------------------------------------
    def at(self, new: Node, old: Placed) -> Node:
        return _place(new, old)

    def hook(self, name: str, arguments: Sequence[ast.expr], at: Placed, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
        function = ast.Attribute(ast.Name(HOOKS, ast.Load()), name, ast.Load())
        return self.at(ast.Call(function, list(arguments), list(keywords)), at)

    def thunk(self, expression: ast.expr) -> ast.Lambda:
        empty = ast.arguments([], [], None, [], [], None, [])
        return self.at(ast.Lambda(empty, expression), expression)

    def block(self, statements: Sequence[ast.stmt], tail: bool = False) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for index, statement in enumerate(statements):
            last = tail and index == len(statements) - 1
            if isinstance(statement, (ast.If, ast.With)):
                new = self.visit_If(statement, last) if isinstance(statement, ast.If) else self.visit_With(statement, last)
            else:
                new = self.visit(statement)
            out += new if isinstance(new, list) else [new]
        return out or [ast.Pass()]

    def part(
        self,
        kind: str,
        body: Sequence[ast.stmt],
        names: Sequence[str],
        at: Placed,
        argument: str | None = None,
        tail: bool = False,
    ) -> tuple[str, ast.FunctionDef]:
        """A nested function that runs a body on the function's names."""
        self.count += 1
        name = f"__t_{kind}_{self.count}"
        statements = self.block(body, tail)
        declared = sorted(set(assigned(body)[0]) | (set(names) & set(assigned(statements)[0])))
        declared = [n for n in declared if n in self.locals or n in self.parameters or n in self.inherited]
        if declared:
            statements.insert(0, ast.Nonlocal(declared))
        arguments = ast.arguments([], [ast.arg(argument)] if argument else [], None, [], [], None, [])
        return name, self.at(ast.FunctionDef(name, arguments, statements, [], None), at)

    def state(self, body: Sequence[ast.stmt], at: Placed) -> tuple[list[str], list[ast.stmt], list[ast.expr]]:
        """(names a region may assign, statements defining its getter and setter, arguments naming them)."""
        names, _ = assigned(body)
        names = [n for n in names if n in self.locals or n in self.parameters or n in self.inherited]
        names += [n for n in self.shared if n not in names]
        self.count += 1
        get, put = f"__t_get_{self.count}", f"__t_set_{self.count}"
        load = ast.Tuple([ast.Name(n, ast.Load()) for n in names], ast.Load())
        store = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
        empty = ast.arguments([], [], None, [], [], None, [])
        one = ast.arguments([], [ast.arg("__t_values")], None, [], [], None, [])
        setter: list[ast.stmt] = [ast.Pass()]
        if names:
            setter = [ast.Nonlocal(names), ast.Assign([store], ast.Name("__t_values", ast.Load()))]
        defs: list[ast.stmt] = [
            self.at(ast.FunctionDef(get, empty, [ast.Return(load)], [], None), at),
            self.at(ast.FunctionDef(put, one, setter, [], None), at),
        ]
        arguments: list[ast.expr] = [_constant(names), ast.Name(get, ast.Load()), ast.Name(put, ast.Load())]
        return names, defs, arguments

    def guard(self, flags: Sequence[str], at: Placed) -> ast.Call:
        return self.hook("none_set", [ast.Name(f, ast.Load()) for f in flags], at)

    # -- statements --------------------------------------------------------------------------------------------------
    def visit_If(self, node: ast.If, tail: bool = False) -> list[ast.stmt]:
        test = self.guard(node.test.flags, node) if isinstance(node.test, Guard) else self.visit(node.test)
        names, defs, arguments = self.state(node.body + node.orelse, node)
        then, then_def = self.part("then", node.body, names, node, tail=tail)
        other, other_def = self.part("else", node.orelse, names, node, tail=tail)
        call = self.hook(
            "if_",
            [test, ast.Name(then, ast.Load()), ast.Name(other, ast.Load()), *arguments, ast.Constant(tail)],
            node.test if hasattr(node.test, "lineno") else node,
        )
        return [*defs, then_def, other_def, self.at(ast.Expr(call), node)]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        iterable = self.visit(node.iter)
        target = ast.Assign([node.target], ast.Name("__t_item", ast.Load()))
        mark(target, "hook", "bind")
        body = [self.at(target, node.target)] + node.body
        names, defs, arguments = self.state(body, node)
        run, run_def = self.part("for", body, names, node, argument="__t_item")
        flags = mark_of(node, "stops")
        stops = self.thunk(self.guard(flags, node)) if flags else ast.Constant(None)
        own = _constant(assigned([target])[0])
        call = self.hook("for_", [iterable, ast.Name(run, ast.Load()), *arguments, stops, own], node.iter)
        return [*defs, run_def, self.at(ast.Expr(call), node)]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        names, defs, arguments = self.state(node.body, node)
        run, run_def = self.part("while", node.body, names, node)
        test = self.thunk(self.visit(node.test))
        flags = mark_of(node, "stops")
        if flags:
            test = self.thunk(self.hook("and_", [self.thunk(self.guard(flags, node.test)), test], node.test))
        call = self.hook("while_", [test, ast.Name(run, ast.Load()), *arguments, ast.Constant(bool(flags))], node.test)
        return [*defs, run_def, self.at(ast.Expr(call), node)]

    def visit_With(self, node: ast.With, tail: bool = False) -> ast.With:
        items, before = [], []
        for item in node.items:
            manager = self.hook("with_", [self.visit(item.context_expr)], item.context_expr)
            target = None
            if item.optional_vars is not None:
                self.count += 1
                target = ast.Name(f"__t_with_{self.count}", ast.Store())
                before += self.store(item.optional_vars, ast.Name(target.id, ast.Load()), item.optional_vars, "bind")
            items.append(ast.withitem(manager, target))
        return self.at(ast.With(items, before + self.block(node.body, tail)), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        if mark_of(node, "is_flag"):
            return node
        if mark_of(node, "is_return"):
            is_end = mark_of(node, "is_end")
            given = self.hook("end_reached", [], node) if is_end else self.hook("return_", [self.visit(node.value)], node)
            return self.at(ast.Assign([node.targets[0]], given), node)
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.store(node.targets[0], value, node, mark_of(node, "hook", "assign"))
        self.count += 1
        temporary = f"__t_value_{self.count}"
        out: list[ast.stmt] = [self.at(ast.Assign([ast.Name(temporary, ast.Store())], value), node)]
        for target in node.targets:
            out += self.store(target, ast.Name(temporary, ast.Load()), node)
        return out

    def store(self, target: ast.expr, value: ast.expr, at: Placed, name: str = "assign") -> list[ast.stmt]:
        """Statements that assign `value` (an expression already rewritten) to a target."""
        if isinstance(target, ast.Name):
            new = self.hook(name, [ast.Constant(target.id), value, ast.Name(target.id, ast.Load())], at)
            return [self.at(ast.Assign([ast.Name(target.id, ast.Store())], new), at)]
        if isinstance(target, ast.Subscript):
            arguments = [self.visit(target.value), self.visit(target.slice), value]
            return [self.at(ast.Expr(self.hook("set_item", arguments, target)), at)]
        if isinstance(target, ast.Attribute):
            arguments = [self.visit(target.value), ast.Constant(target.attr), value]
            return [self.at(ast.Expr(self.hook("set_attr", arguments, target)), at)]
        # A sequence: Python unpacks it into temporaries, which are stored one by one.
        assert isinstance(target, (ast.Tuple, ast.List))
        temporaries: list[ast.expr] = []
        out: list[ast.stmt] = []
        for element in target.elts:
            self.count += 1
            temporary = f"__t_value_{self.count}"
            place = ast.Name(temporary, ast.Store())
            temporaries.append(ast.Starred(place, ast.Store()) if isinstance(element, ast.Starred) else place)
            inner = element.value if isinstance(element, ast.Starred) else element
            out += self.store(inner, ast.Name(temporary, ast.Load()), at, name)
        unpack = ast.Assign([ast.Tuple(temporaries, ast.Store())], self.hook("unpack", [value], at))
        return [self.at(unpack, at), *out]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | list[ast.stmt]:
        if not isinstance(node.target, ast.Name):
            return self.at(ast.Pass(), node) if node.value is None else self.store(node.target, self.visit(node.value), node)
        if node.value is None:
            name = node.target.id
            call = self.hook("declared", [ast.Constant(name), self.thunk(node.annotation), ast.Name(name, ast.Load())], node)
            return self.at(ast.Assign([ast.Name(name, ast.Store())], call), node)
        arguments = [
            ast.Constant(node.target.id),
            self.thunk(node.annotation),
            self.visit(node.value),
            ast.Name(node.target.id, ast.Load()),
        ]
        return self.at(ast.Assign([ast.Name(node.target.id, ast.Store())], self.hook("annotated", arguments, node)), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        operator, value = ast.Constant(_OPERATORS[type(node.op)]), self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            call = self.hook("aug_assign", [ast.Constant(target.id), operator, self.load(target), value], node)
            return self.at(ast.Assign([ast.Name(target.id, ast.Store())], call), node)
        if isinstance(target, ast.Subscript):
            return self.at(
                ast.Expr(self.hook("aug_item", [self.visit(target.value), self.visit(target.slice), operator, value], node)), node
            )
        return self.at(
            ast.Expr(self.hook("aug_attr", [self.visit(target.value), ast.Constant(target.attr), operator, value], node)), node
        )

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                out.append(
                    self.at(
                        ast.Assign([ast.Name(target.id, ast.Store())], self.hook("undefined", [ast.Constant(target.id)], node)),
                        node,
                    )
                )
            elif isinstance(target, ast.Subscript):
                out.append(
                    self.at(ast.Expr(self.hook("del_item", [self.visit(target.value), self.visit(target.slice)], node)), node)
                )
            elif isinstance(target, ast.Attribute):
                out.append(
                    self.at(ast.Expr(self.hook("del_attr", [self.visit(target.value), ast.Constant(target.attr)], node)), node)
                )
        return out

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        message = self.thunk(self.visit(node.msg)) if node.msg else ast.Constant(None)
        return self.at(ast.Expr(self.hook("assert_", [self.visit(node.test), message], node.test)), node)

    def visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        new = ast.Raise(node.exc and self.visit(node.exc), node.cause and self.visit(node.cause))
        return [self.at(ast.Expr(self.hook("raising", [], node)), node), self.at(new, node)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        inner = _Function(node, self.file, self.outer | set(self.locals) | set(self.parameters), self.choices).definition()
        inner.decorator_list = [self.visit(d) for d in node.decorator_list]
        return inner

    # -- expressions -------------------------------------------------------------------------------------------------
    def load(self, node: ast.Name) -> ast.Call:
        return self.hook("load", [ast.Constant(node.id), ast.Name(node.id, ast.Load())], node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id in self.shadowed:
            return node
        if node.id in self.locals or node.id in self.outer and node.id not in self.parameters:
            return self.load(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr not in ("value", "type", "to") or not isinstance(node.ctx, ast.Load):
            return node
        return self.hook("attribute", [node.value, ast.Constant(node.attr)], node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        names = parameters(node.args)
        self.shadowed += names
        new = self.at(ast.Lambda(node.args, self.visit(node.body)), node)
        del self.shadowed[len(self.shadowed) - len(names) :]
        return new

    def comprehension(self, node: Comprehension) -> ast.expr:
        names = bound_in_comprehension(node)
        self.shadowed += names
        self.generic_visit(node)
        del self.shadowed[len(self.shadowed) - len(names) :]
        if isinstance(node, ast.GeneratorExp):
            return node
        return self.hook("made", [node], node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def display(self, node: ast.List | ast.Dict | ast.Set) -> ast.expr:
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        self.generic_visit(node)
        return self.hook("made", [node], node)

    visit_List = visit_Dict = visit_Set = display

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.NamedExpr:
        call = self.hook(
            "assign", [ast.Constant(node.target.id), self.visit(node.value), ast.Name(node.target.id, ast.Load())], node
        )
        return self.at(ast.NamedExpr(node.target, call), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.Call:
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self.hook(name, [self.thunk(self.visit(v)) for v in node.values], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return self.hook("not_", [operand], node)
        return self.at(ast.UnaryOp(node.op, operand), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        values = [self.visit(v) for v in [node.left, *node.comparators]]
        operators = [_OPERATORS[type(o)] for o in node.ops]
        if len(operators) > 1:
            middle = [_OPERATORS[type(v.op)] for v in node.comparators[:-1] if isinstance(v, ast.BinOp)]
            bits = next((op for op in middle if op in ("&", "|", "^")), None)
            thunks = [self.thunk(v) for v in values[1:]]
            return self.hook("compare", [_constant(operators), ast.Constant(bits), values[0], *thunks], node)
        if operators[0] in COMPARISONS:
            return self.hook("operate", [ast.Constant(operators[0]), *values], node)
        return self.at(ast.Compare(values[0], node.ops, values[1:]), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.Call:
        return self.hook(
            "if_exp", [self.visit(node.test), self.thunk(self.visit(node.body)), self.thunk(self.visit(node.orelse))], node
        )

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        arguments = [self.visit(a) for a in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        chooses = self.chooses(node)
        if chooses:
            arguments[1:3] = map(self.thunk, arguments[1:3])
        return self.hook("choose" if chooses else "call", [self.visit(node.func), *arguments], node, keywords)

    def chooses(self, node: ast.Call) -> bool:
        """Is it a call of what is named `if_then_else`, here or where it is from, with both sides?"""
        name = dotted(node.func)
        named = name.split(".")[-1] == "if_then_else" or name in self.choices
        return named and len(node.args) > 2 and not any(isinstance(a, ast.Starred) for a in node.args[:3])

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | list[ast.stmt]:
        if isinstance(node.value, ast.IfExp):  # a branch, whose sides need not give anything
            then, other = (self.at(ast.Expr(side), side) for side in (node.value.body, node.value.orelse))
            return self.visit_If(self.at(ast.If(node.value.test, [then], [other]), node))
        alone = isinstance(node.value, ast.Call) and self.chooses(node.value)
        name = dotted(node.value.func) if isinstance(node.value, ast.Call) else ""
        node.value = value = self.visit(node.value)
        if name and isinstance(value, ast.Call) and value.args:  # what the call returns is dropped
            value.args[0] = self.hook("dropped", [value.args[0], ast.Constant(name)], value)
            if alone:
                value.func = self.hook("choose_branch", [], value).func
        return node


class _NarrowFunction(_Function):
    """A function of a language that reads little of what is around it."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        new = super().visit_Name(node)
        if new is not node or not isinstance(node.ctx, ast.Load) or mark_of(node, "owner"):
            return new
        if node.id in self.parameters or node.id in self.shadowed or node.id.startswith("__t_"):  # the last: the rewriter's own
            return node
        return self.hook("outside", [ast.Constant(node.id), node], node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        mark(node.value, "owner")  # a module or a class; its members may be read
        return super().visit_Attribute(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        mark(node.func, "owner")
        return super().visit_Call(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        raise error(
            SyntaxError,
            "nested function definition is not supported",
            hint="define it beside the kernel, decorated with @jit",
            chain=[(self.file, node.lineno, node.col_offset + 1, self.node.name)],
        )


for _kind in _REFUSED.keys() - {ast.With}:
    setattr(_Function, f"visit_{_kind.__name__}", _Function.refused)
