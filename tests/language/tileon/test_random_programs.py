"""Random kernels of tiles in descriptors and tuples, shifts of all mixtures of integers, conversions between all types in both
roundings: against Python's integers and fractions, on every engine."""

import math
import operator
import random
import textwrap

import pytest
import torch
from language import exact
from language.tileon.test_conversions import NAMES, same, saturated
from language.tileon.test_integers import common
from seeds import seeds

from tilery import tileon
from tilery.tileon import language as tl
from tilery.tileon.tools.tensor_descriptor import TensorDescriptor

ROWS, COLUMNS = 4, 16
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor}
SHIFTS = {"<<": operator.lshift, ">>": operator.rshift}
HELPERS = """
@tileon.jit
def swapped(pair, flag):
    if flag > 0:
        return pair[1], pair[0]
    else:
        return pair

@tileon.jit
def read(source, row, column):
    return source.load([row, column])

"""


def each(function, *lists):
    """Of elements that are known: None stands for one whose value is not defined."""
    return [None if None in some else function(*some) for some in zip(*lists)]


class Program:
    """A kernel's text and what each name in it holds: (type, values)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.names, self.inputs, self.outputs = [], {}, [], []
        for _ in range(3):
            self.load()
        steps = [self.load, self.shift, self.shift, self.convert, self.convert, self.combine, self.choose, self.pair]
        for _ in range(self.random.randint(4, 10)):
            self.random.choice(steps)()
        for name in self.names:
            self.store(name)

    def new(self, dtype, values):
        name = f"v{len(self.names)}"
        self.names[name] = dtype, values
        return name

    def pick(self, kinds=exact.TYPES):
        found = [name for name, (dtype, _) in self.names.items() if dtype in kinds]
        return self.random.choice(found) if found else None

    def place(self, extent, block):
        """Where a block begins: inside, or partly or all outside."""
        return self.random.choice([0, 1, extent - block, extent - 1, extent + 3])

    def load(self):
        r, number = self.random, len(self.inputs)
        dtype = r.choice(exact.TYPES)
        size = exact.numpy_type(dtype).itemsize
        rows, columns = r.randint(1, 9), 16 // size * r.randint(1, 12 // (16 // size) + 2)
        values = exact.operand(dtype, rows * columns, seed=r.randrange(1000))
        row, column = self.place(rows, ROWS), max(0, self.place(columns, COLUMNS))
        row = max(0, row)
        tile = []
        for i in range(row, row + ROWS):
            for j in range(column, column + COLUMNS):
                tile.append(values[i * columns + j] if i < rows and j < columns else 0.0 if dtype in exact.FLOATS else 0)
        form = r.choice(["inputs[{n}]", "extra[0][{n}]", "made"])
        source = form.format(n=number)
        if form == "made":
            source = f"tl.make_tensor_descriptor(extra[1][{number}], [{rows}, {columns}], [{columns}, 1], [{ROWS}, {COLUMNS}])"
        self.inputs.append((dtype, values, rows, columns))
        self.lines.append(f"{self.new(dtype, tile)} = read({source}, {row}, {column})")

    def shift(self):
        x, y = self.pick(exact.INTEGERS), self.pick(exact.INTEGERS)
        if x is None:
            return
        (left, a), (right, b) = self.names[x], self.names[y]
        dtype, (sign, function) = common(left, right), self.random.choice(list(SHIFTS.items()))
        mask = min(exact.bits_of(dtype), 1 << (exact.bits_of(right) - 1)) - 1
        values = each(lambda u, v: exact.wrapped(dtype, function(u, v & mask)), a, b)
        self.lines.append(f"{self.new(dtype, values)} = {x} {sign} ({y} & {mask})")

    def combine(self):
        x, y = self.pick(exact.INTEGERS), self.pick(exact.INTEGERS)
        if x is None:
            return
        (left, a), (right, b) = self.names[x], self.names[y]
        dtype, (sign, function) = common(left, right), self.random.choice(list(ARITHMETIC.items()))
        self.lines.append(f"{self.new(dtype, each(lambda u, v: exact.wrapped(dtype, function(u, v)), a, b))} = {x} {sign} {y}")

    def convert(self):
        x, target = self.pick(), self.random.choice(exact.TYPES)
        source, values = self.names[x]
        narrows = source in exact.FLOATS and target in exact.FLOATS
        narrows = narrows and exact.numpy_type(source).itemsize > exact.numpy_type(target).itemsize
        down = narrows and self.random.random() < 0.5
        if down:
            converted = each(lambda v: exact.FLOATS[target].rounded(saturated(v, source, target), toward_zero=True), values)
        else:
            converted = each(lambda v: exact.converted(saturated(v, source, target), target), values)
        words = f'tl.{NAMES.get(target, target)}, fp_downcast_rounding="{"rtz" if down else "rtne"}"' if narrows else ""
        name = self.new(target, converted)
        self.lines.append(f"{name} = {x}.to({words or 'tl.' + NAMES.get(target, target)})")

    def choose(self):
        x = self.pick()
        dtype, a = self.names[x]
        y = self.random.choice([name for name, (other, _) in self.names.items() if other == dtype])
        known = [value for value in a if value is not None and value == value and math.isfinite(value)]
        if dtype not in exact.INTEGERS or not known:
            return
        b, limit = self.names[y][1], self.random.choice(known)
        name = self.new(dtype, each(lambda u, v: u if u < limit else v, a, b))
        self.lines.append(f"{name} = tl.where({x} < {limit}, {x}, {y})")

    def pair(self):
        """Two tiles of one type change places in a loop, in a helper under a condition of run time, or in a choice of tuples."""
        x = self.pick()
        y = self.random.choice([name for name, (other, _) in self.names.items() if other == self.names[x][0]])
        times, flag = self.random.randint(0, 3), self.random.choice([-1, 1])
        swaps = times + (flag > 0)
        first, second = (self.new(*self.names[n]) for n in ((x, y), (y, x))[swaps % 2])
        self.lines += [
            f"p = ({x}, {y})",
            f"for _ in range(zero + {times}):",
            "    p = (p[1], p[0])",
            f"p = swapped(p, zero + {flag})",
            f"{first}, {second} = p",
        ]

    def store(self, name):
        row, column = self.random.choice([0, 2]), self.random.choice([0, 16])
        self.outputs.append((name, row, column))
        self.lines.append(f"outputs[{len(self.outputs) - 1}].store([{row}, {column}], {name})")

    def text(self):
        body = "\n".join(self.lines)
        return HELPERS + "@tileon.jit\ndef kernel(inputs, extra, outputs, zero):\n" + textwrap.indent(body, "    ") + "\n"

    def expected(self, name, row, column):
        """The output's values, None where nothing is said: 5 rows and 24 columns that are 1 where nothing is stored."""
        _, values = self.names[name]
        whole = [[1] * 32 for _ in range(5)]
        for i in range(ROWS):
            for j in range(COLUMNS):
                if row + i < 5 and column + j < 32:
                    whole[row + i][column + j] = values[i * COLUMNS + j]
        return [value for line in whole for value in line]


@pytest.mark.parametrize("seed", seeds(25, 600))
def test_random_program(engine, seed, tmp_path):
    program = Program(seed)
    path = tmp_path / "program.py"
    path.write_text(program.text())
    space = {"tileon": tileon, "tl": tl, "__name__": "program"}
    exec(compile(program.text(), str(path), "exec"), space)
    tensors = [exact.tensor(values, dtype).reshape(rows, columns) for dtype, values, rows, columns in program.inputs]
    sources = tuple(TensorDescriptor.from_tensor(tensor, [ROWS, COLUMNS]) for tensor in tensors)
    outputs = [torch.ones(5, 32).to(getattr(torch, program.names[name][0])) for name, _, _ in program.outputs]
    targets = tuple(TensorDescriptor.from_tensor(output, [ROWS, COLUMNS]) for output in outputs)
    space["kernel"][(1,)](sources, (sources, tuple(tensors)), targets, 0)
    for output, stored in zip(outputs, program.outputs):
        got, want = exact.values(output.reshape(-1)), program.expected(*stored)
        wrong = [f"{i}: {u}, not {v}" for i, (u, v) in enumerate(zip(got, want)) if v is not None and not same(u, v)]
        assert not wrong, f"{stored[0]}: {len(wrong)}: {wrong[:5]}\n{program.text()}"
