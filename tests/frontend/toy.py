"""A toy builder and language over int and float scalars: traces become a list of instructions that `run` interprets."""

import sys
from dataclasses import dataclass, field

from tilery.errors import error
from tilery.frontend.language import Language
from tilery.frontend.operators import ARITHMETIC, BINARY, COMPARISONS


class Value:
    def __init__(self, builder, type_):
        self.builder, self.type = builder, type_

    def __bool__(self):
        raise TypeError("a run-time value has no truth at compile time")

    def __neg__(self):
        return self.builder.binary("-", 0, self)

    def __abs__(self):
        return self.builder.emit("abs", self.type, [self])

    __hash__ = object.__hash__


def _operator(symbol, reverse):
    if reverse:
        return lambda self, other: self.builder.binary(symbol, other, self)
    return lambda self, other: self.builder.binary(symbol, self, other)


for _symbol, _name in ARITHMETIC.items():
    setattr(Value, f"__{_name}__", _operator(_symbol, False))
    setattr(Value, f"__r{_name}__", _operator(_symbol, True))
for _symbol, _name in COMPARISONS.items():
    setattr(Value, f"__{_name}__", _operator(_symbol, False))


@dataclass
class Op:
    name: str
    operands: list
    results: list
    blocks: list = field(default_factory=list)


@dataclass
class Block:
    args: list = field(default_factory=list)
    ops: list = field(default_factory=list)
    ends: list = field(default_factory=list)


class Builder:
    def __init__(self):
        self.blocks = [Block()]
        self.frames = []
        self.emitted = 0

    def emit(self, name, type_, operands):
        self.emitted += 1
        value = Value(self, type_)
        self.blocks[-1].ops.append(Op(name, [self.value(o) for o in operands], [value]))
        return value

    def value(self, v):
        if isinstance(v, Value):
            return v
        if isinstance(v, bool):
            type_ = "bool"
        else:
            type_ = {int: "int", float: "float"}.get(type(v)) or self.refuse(v)
        value = Value(self, type_)
        self.blocks[-1].ops.append(Op("constant", [v], [value]))
        return value

    def refuse(self, v):
        raise TypeError(f"{v!r} is no number")

    def binary(self, op, a, b):
        a, b = self.value(a), self.value(b)
        type_ = (
            "bool"
            if op in ("==", "!=", "<", "<=", ">", ">=")
            else "float"
            if "float" in (a.type, b.type) or op == "/"
            else a.type
        )
        return self.emit(op, type_, [a, b])

    # The protocol of tilery.frontend.
    def type_of(self, v):
        return v.type

    def zero(self, type_):
        return self.value({"int": 0, "float": 0.0, "bool": False}[type_])

    def placeholder(self, v):
        return Value(self, v.type)

    def scratch_begin(self):
        self.blocks.append(Block())
        self.frames.append(("scratch", len(self.blocks)))

    def scratch_discard(self):
        kind, depth = self.frames.pop()
        assert kind == "scratch" and depth == len(self.blocks)
        self.blocks.pop()

    def if_begin(self, c):
        assert c.type == "bool"
        self.frames.append(("if", c))
        self.blocks.append(Block())

    def if_else(self):
        self.blocks.append(Block())

    def if_end(self, thens, elses):
        other, then = self.blocks.pop(), self.blocks.pop()
        kind, c = self.frames.pop()
        assert kind == "if"
        results = []
        for a, b in zip(thens, elses):
            type_ = next(v.type for v in (a, b) if isinstance(v, Value))
            assert all(v.type == type_ for v in (a, b) if isinstance(v, Value))
            results.append(Value(self, type_))
        then.ends, other.ends = list(thens), list(elses)
        self.blocks[-1].ops.append(Op("if", [c], results, [then, other]))
        return results

    def for_begin(self, lo, hi, step, inits, attributes):
        bounds = [self.value(v) for v in (lo, hi, step)]
        block = Block([Value(self, "int"), *(Value(self, v.type) for v in inits)])
        self.frames.append(("for", bounds, list(inits)))
        self.blocks.append(block)
        return block.args[0], block.args[1:]

    def for_end(self, yields):
        block = self.blocks.pop()
        kind, bounds, inits = self.frames.pop()
        assert kind == "for" and [v.type for v in yields] == [v.type for v in inits]
        block.ends = list(yields)
        results = [Value(self, v.type) for v in yields]
        self.blocks[-1].ops.append(Op("for", bounds + inits, results, [block]))
        return results

    def while_begin(self, inits):
        block = Block([Value(self, v.type) for v in inits])
        self.frames.append(("while", list(inits)))
        self.blocks.append(block)
        return block.args

    def while_body(self, c):
        before = self.blocks[-1]
        before.ends = [c]
        block = Block([Value(self, v.type) for v in before.args])
        self.blocks.append(block)
        return block.args

    def while_end(self, yields):
        body, before = self.blocks.pop(), self.blocks.pop()
        kind, inits = self.frames.pop()
        assert kind == "while"
        body.ends = list(yields)
        results = [Value(self, v.type) for v in yields]
        self.blocks[-1].ops.append(Op("while", inits, results, [before, body]))
        return results


class Interpreter:
    def __init__(self, env):
        self.env = env

    def get(self, v):
        return self.env[v] if isinstance(v, Value) else v

    def block(self, block, args=()):
        self.env.update(zip(block.args, args))
        for op in block.ops:
            self.op(op)
        return [0 if v is None else self.get(v) for v in block.ends]

    def op(self, op):
        if op.name == "constant":
            results = [op.operands[0]]
        elif op.name == "if":
            results = self.block(op.blocks[0] if self.get(op.operands[0]) else op.blocks[1])
        elif op.name == "for":
            lo, hi, step, *results = [self.get(v) for v in op.operands]
            for i in range(lo, hi, step):
                results = self.block(op.blocks[0], [i, *results])
        elif op.name == "while":
            results = [self.get(v) for v in op.operands]
            for _ in range(1_000_000):
                if not self.block(op.blocks[0], results)[0]:
                    break
                results = self.block(op.blocks[1], results)
            else:
                raise RuntimeError("endless loop")
        else:
            operands = [self.get(v) for v in op.operands]
            function = {"abs": abs, "not": lambda a: not a, "min": min, "max": max}.get(op.name) or BINARY[op.name]
            results = [function(*operands)]
        self.env.update(zip(op.results, results))


class Toy(Language):
    """Every function that is not of the standard library is inlined; assigned names keep what they are given."""

    def is_value(self, value):
        return isinstance(value, Value)

    def to_value(self, number, like=None):
        if like == "float":
            number = float(number)
        return self.b.value(number)

    def takes(self, type_, number):
        return {int: "int", float: "float", bool: "bool"}[type(number)] == type_

    def logical_not(self, value):
        return self.b.emit("not", "bool", [value])

    def logical_and(self, a, b):
        return self.b.binary("&", a, b)

    def logical_or(self, a, b):
        return self.b.binary("|", a, b)

    def condition(self, value):
        return value if value.type == "bool" else self.b.binary("!=", value, 0)

    def minimum(self, a, b):
        return self.b.emit("min", self.b.value(a).type, [a, b])

    def maximum(self, a, b):
        return self.b.emit("max", self.b.value(a).type, [a, b])

    def wants_inline(self, function, args, kwargs):
        return function.__module__ not in sys.stdlib_module_names

    def run_time_assert(self, condition, message):
        raise error(TypeError, f"no assert {message}")


def trace(function, *numbers, host=()):
    """(the trace, its arguments, its result). Numbers become run-time arguments of their type; `host` ones follow as they are."""
    toy = Toy(Builder())
    arguments = [Value(toy.b, {int: "int", float: "float", bool: "bool"}[type(n)]) for n in numbers]
    result = toy.run(function, [*arguments, *host])
    assert len(toy.b.blocks) == 1 and not toy.b.frames and not toy.regions and not toy.dry
    return toy, arguments, result


def execute(function, *numbers, host=()):
    """Traces a function with run-time arguments and interprets the trace on the numbers."""
    toy, arguments, result = trace(function, *numbers, host=host)
    interpreter = Interpreter(dict(zip(arguments, numbers)))
    interpreter.block(toy.b.blocks[0])

    def concrete(v):
        if isinstance(v, (tuple, list)):
            return type(v)(concrete(x) for x in v)
        return interpreter.get(v)

    return concrete(result)
