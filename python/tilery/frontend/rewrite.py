"""Turns a function into one whose control flow, assignments and calls go through hooks (see language.py).

Names stay Python locals. The bodies of `if`, `for` and `while` become nested functions that share them (`nonlocal`), with a
getter and a
setter of the names the region may assign, so that the trace can run a branch, take its values, put the old ones back and run
the other."""

import ast
import types
from dataclasses import dataclass

from ..errors import error
from . import position
from .jumps import RESULT, Guard, JumpLowering
from .names import assigned, bound_in_comprehension, parameters
from .source import tree_of

HOOKS = "__t_hooks__"
_REFUSED = {
    ast.Try: "`try`",
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
_OPERATORS = {
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
    """One function's rewritten code; `bind` makes it callable under a set of hooks."""

    code: types.CodeType

    def bind(self, function, hooks):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        cells[HOOKS] = types.CellType(hooks)
        closure = tuple(cells[name] for name in self.code.co_freevars)
        bound = types.FunctionType(self.code, function.__globals__, function.__name__, function.__defaults__, closure)
        bound.__kwdefaults__ = function.__kwdefaults__
        return bound


_cache = {}  # (code object, preparation) -> Rewritten


def rewrite(function, prepare=None):
    """Rewrites a function once; later calls return the same code. `prepare` changes the function's tree before, as a language
    needs it."""
    key = function.__code__, function.__code__.co_filename, prepare
    found = _cache.get(key)
    if found is None:
        found = _cache[key] = _rewrite(function, prepare)
    return found


def _rewrite(function, prepare):
    definition = tree_of(function)
    if prepare is not None:
        definition = prepare(definition)
    file = function.__code__.co_filename
    new = _Function(definition, file, set()).definition()
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
    return Rewritten(code)


def _place(new, old):
    """Gives a new node, and the new ones below it, the place of an old one."""
    place = old.lineno, old.col_offset, old.end_lineno, old.end_col_offset
    pending = [new]
    while pending:
        node = pending.pop()
        if node._attributes:
            if hasattr(node, "lineno"):
                continue
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = place
        pending.extend(ast.iter_child_nodes(node))
    return new


class _Function(ast.NodeTransformer):
    """Rewrites one function definition (and, through new instances, those nested in it)."""

    def __init__(self, definition, file, outer_names):
        self.node, self.file = definition, file
        self.parameters = parameters(definition.args)
        self.body = JumpLowering().function(list(definition.body))
        names, self.shared = assigned(self.body)
        inherited = {n for s in definition.body if isinstance(s, ast.Nonlocal) for n in s.names}
        self.outer = outer_names  # names of the rewritten functions around this one
        self.locals = [n for n in names if n not in inherited]
        self.inherited = sorted(inherited)
        self.shadowed = []
        self.count = 0

    def refused(self, node):
        raise error(
            SyntaxError,
            f"{_REFUSED[type(node)]} is not supported in a kernel",
            hint="move it out of the kernel, to the code that launches it",
            chain=[(self.file, node.lineno, node.col_offset + 1, self.node.name)],
        )

    def definition(self):
        body, node = [], self.node
        statements = self.body
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
        body = declared + body + self.block([s for s in statements if not isinstance(s, ast.Nonlocal)], tail=True)
        if RESULT in self.locals:
            body.append(self.at(ast.Return(self.hook("returned", [ast.Name(RESULT, ast.Load())], start)), statements[-1]))
        new = ast.FunctionDef(node.name, node.args, body or [ast.Pass()], node.decorator_list, node.returns, node.type_comment)
        return self.at(new, node)

    # -- pieces ------------------------------------------------------------------------------------------------------
    def at(self, new, old):
        return _place(new, old)

    def hook(self, name, arguments, at, keywords=()):
        function = ast.Attribute(ast.Name(HOOKS, ast.Load()), name, ast.Load())
        return self.at(ast.Call(function, list(arguments), list(keywords)), at)

    def thunk(self, expression):
        empty = ast.arguments([], [], None, [], [], None, [])
        return self.at(ast.Lambda(empty, expression), expression)

    def block(self, statements, tail=False):
        out = []
        for index, statement in enumerate(statements):
            last = tail and index == len(statements) - 1
            if isinstance(statement, (ast.If, ast.With)):
                new = self.visit_If(statement, last) if isinstance(statement, ast.If) else self.visit_With(statement, last)
            else:
                new = self.visit(statement)
            out += new if isinstance(new, list) else [new]
        return out or [ast.Pass()]

    def part(self, kind, body, names, at, argument=None, tail=False):
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

    def state(self, body, at):
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
        setter = [ast.Nonlocal(names), ast.Assign([store], ast.Name("__t_values", ast.Load()))] if names else [ast.Pass()]
        defs = [
            self.at(ast.FunctionDef(get, empty, [ast.Return(load)], [], None), at),
            self.at(ast.FunctionDef(put, one, setter, [], None), at),
        ]
        arguments = [ast.Constant(tuple(names)), ast.Name(get, ast.Load()), ast.Name(put, ast.Load())]
        return names, defs, arguments

    def guard(self, flags, at):
        return self.hook("none_set", [ast.Name(f, ast.Load()) for f in flags], at)

    # -- statements --------------------------------------------------------------------------------------------------
    def visit_If(self, node, tail=False):
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

    def visit_For(self, node):
        iterable = self.visit(node.iter)
        target = ast.Assign([node.target], ast.Name("__t_item", ast.Load()))
        target.hook = "bind"
        body = [self.at(target, node.target)] + node.body
        names, defs, arguments = self.state(body, node)
        run, run_def = self.part("for", body, names, node, argument="__t_item")
        stops = [self.thunk(self.guard(node.stops, node))] if node.stops else [ast.Constant(None)]
        own = ast.Constant(tuple(assigned([target])[0]))
        call = self.hook("for_", [iterable, ast.Name(run, ast.Load()), *arguments, *stops, own], node.iter)
        return [*defs, run_def, self.at(ast.Expr(call), node)]

    def visit_While(self, node):
        names, defs, arguments = self.state(node.body, node)
        run, run_def = self.part("while", node.body, names, node)
        test = self.thunk(self.visit(node.test))
        if node.stops:
            test = self.thunk(self.hook("and_", [self.thunk(self.guard(node.stops, node.test)), test], node.test))
        call = self.hook("while_", [test, ast.Name(run, ast.Load()), *arguments, ast.Constant(bool(node.stops))], node.test)
        return [*defs, run_def, self.at(ast.Expr(call), node)]

    def visit_With(self, node, tail=False):
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

    def visit_Assign(self, node):
        if getattr(node, "is_flag", False):
            return node
        if getattr(node, "is_return", False):
            name = node.targets[0]
            return self.at(ast.Assign([name], self.hook("return_", [self.visit(node.value)], node)), node)
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.store(node.targets[0], value, node, getattr(node, "hook", "assign"))
        self.count += 1
        temporary = f"__t_value_{self.count}"
        out = [self.at(ast.Assign([ast.Name(temporary, ast.Store())], value), node)]
        for target in node.targets:
            out += self.store(target, ast.Name(temporary, ast.Load()), node)
        return out

    def store(self, target, value, at, name="assign"):
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
        temporaries, out = [], []
        for element in target.elts:
            self.count += 1
            temporary = f"__t_value_{self.count}"
            starred = isinstance(element, ast.Starred)
            place = ast.Name(temporary, ast.Store())
            temporaries.append(ast.Starred(place, ast.Store()) if starred else place)
            out += self.store(element.value if starred else element, ast.Name(temporary, ast.Load()), at, name)
        unpack = ast.Assign([ast.Tuple(temporaries, ast.Store())], self.hook("unpack", [value], at))
        return [self.at(unpack, at), *out]

    def visit_AnnAssign(self, node):
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

    def visit_AugAssign(self, node):
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

    def visit_Delete(self, node):
        out = []
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
            else:
                out.append(
                    self.at(ast.Expr(self.hook("del_attr", [self.visit(target.value), ast.Constant(target.attr)], node)), node)
                )
        return out

    def visit_Assert(self, node):
        message = self.thunk(self.visit(node.msg)) if node.msg else ast.Constant(None)
        return self.at(ast.Expr(self.hook("assert_", [self.visit(node.test), message], node.test)), node)

    def visit_Raise(self, node):
        new = ast.Raise(node.exc and self.visit(node.exc), node.cause and self.visit(node.cause))
        return [self.at(ast.Expr(self.hook("raising", [], node)), node), self.at(new, node)]

    def visit_FunctionDef(self, node):
        inner = _Function(node, self.file, self.outer | set(self.locals) | set(self.parameters)).definition()
        inner.decorator_list = [self.visit(d) for d in node.decorator_list]
        return inner

    # -- expressions -------------------------------------------------------------------------------------------------
    def load(self, node):
        return self.hook("load", [ast.Constant(node.id), ast.Name(node.id, ast.Load())], node)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id in self.shadowed:
            return node
        if node.id in self.locals or node.id in self.outer and node.id not in self.parameters:
            return self.load(node)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        return self.hook("value_of", [node.value], node) if node.attr == "value" and isinstance(node.ctx, ast.Load) else node

    def visit_Lambda(self, node):
        names = parameters(node.args)
        self.shadowed += names
        new = self.at(ast.Lambda(node.args, self.visit(node.body)), node)
        del self.shadowed[len(self.shadowed) - len(names) :]
        return new

    def comprehension(self, node):
        names = bound_in_comprehension(node)
        self.shadowed += names
        self.generic_visit(node)
        del self.shadowed[len(self.shadowed) - len(names) :]
        if isinstance(node, ast.GeneratorExp):
            return node
        return self.hook("made", [node], node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def display(self, node):
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        return self.hook("made", [self.generic_visit(node)], node)

    visit_List = visit_Dict = visit_Set = display

    def visit_NamedExpr(self, node):
        call = self.hook(
            "assign", [ast.Constant(node.target.id), self.visit(node.value), ast.Name(node.target.id, ast.Load())], node
        )
        return self.at(ast.NamedExpr(node.target, call), node)

    def visit_BoolOp(self, node):
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self.hook(name, [self.thunk(self.visit(v)) for v in node.values], node)

    def visit_UnaryOp(self, node):
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return self.hook("not_", [operand], node)
        return self.at(ast.UnaryOp(node.op, operand), node)

    def visit_Compare(self, node):
        values = [self.visit(v) for v in [node.left, *node.comparators]]
        if len(node.ops) == 1:
            return self.at(ast.Compare(values[0], node.ops, values[1:]), node)
        operators = ast.Constant(tuple(_OPERATORS[type(o)] for o in node.ops))
        return self.hook("compare", [operators, values[0], *(self.thunk(v) for v in values[1:])], node)

    def visit_IfExp(self, node):
        return self.hook(
            "if_exp", [self.visit(node.test), self.thunk(self.visit(node.body)), self.thunk(self.visit(node.orelse))], node
        )

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        arguments = [self.visit(a) for a in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        return self.hook("call", [self.visit(node.func), *arguments], node, keywords)


for _kind in _REFUSED:
    setattr(_Function, f"visit_{_kind.__name__}", _Function.refused)
