"""Calls that the reference interpreter runs: `tile.host` in Python, one launch after the other."""

from tilery import _native

from ...core import debug as launches
from ...errors import error
from .values import FOLD, Node, Var


def evaluate(value, sizes):
    """The number that an expression of sizes stands for; None while a size is missing."""
    if isinstance(value, Var):
        return sizes.get(value.uid)
    if isinstance(value, Node):
        operands = [evaluate(operand, sizes) for operand in value.operands]
        if None in operands:
            return None
        return -operands[0] if len(operands) == 1 and value.op == "-" else FOLD[value.op](*operands)
    return value


def layout(tensor):
    """(shape, strides in elements)."""
    if not hasattr(tensor, "shape"):
        import numpy

        tensor = numpy.from_dlpack(tensor)
    if hasattr(tensor, "stride") and callable(tensor.stride):
        return tuple(tensor.shape), tuple(tensor.stride())
    return tuple(tensor.shape), tuple(stride // tensor.itemsize for stride in tensor.strides)


class OracleCall:
    """A launch plan that interprets a Program."""

    def __init__(self, program, allocate, debug):
        self.program, self.allocate, self.debug = program, allocate, debug

    def __call__(self, grid, arguments):
        program, sizes, tensors = self.program, {}, {}
        given = [memory for memory, role in program.tensors if role == "argument"]
        for var in program.sizes:
            if var.name in arguments and var.name not in {memory.name for memory in given}:
                sizes[var.uid] = arguments[var.name]
        for memory in given:
            tensors[id(memory)] = arguments[memory.name]
            for expected, actual in zip((*memory.shape, *memory.strides), sum(layout(arguments[memory.name]), ())):
                if isinstance(expected, Var):
                    sizes.setdefault(expected.uid, actual)
        for memory in given:
            for dim, (expected, actual) in enumerate(zip(memory.shape, layout(tensors[id(memory)])[0])):
                self._check(memory, dim, actual, expected, sizes)
        like = next((tensors[id(memory)] for memory in given), None)
        for memory, role in program.tensors:
            if role != "argument":
                tensors[id(memory)] = self.allocate([evaluate(n, sizes) for n in memory.shape], str(memory.dtype), like)
        for state in program.launches:
            self._launch(state, sizes, tensors)
        results = tuple(tensors[id(memory)] for memory in program.outputs)
        return results[0] if len(results) == 1 else results or None

    def _check(self, memory, dim, actual, expected, sizes):
        if isinstance(expected, Node) and evaluate(expected, sizes) is None:
            form, constant = expected.affine()
            ((uid, factor),) = ((u, f) for u, f in form.items() if u not in sizes)
            known = sum(f * sizes[u] for u, f in form.items() if u != uid)
            sizes[uid] = (actual - constant - known) // factor
        wanted = evaluate(expected, sizes)
        if wanted != actual:
            raise error(
                ValueError,
                f"Argument {self.program.name}.{memory.name}.shape[{dim}] has an unsatisfied constraint: {actual} == {wanted}",
            )

    def _launch(self, state, sizes, tensors):
        slots, allocations = [], []
        for what, owner, *dim in state.slots:
            if what == "size":
                value = evaluate(owner, sizes)
                slots.append(launches.bits(value, str(owner.dtype)))
            elif what == "stride":
                slots.append(layout(tensors[id(owner)])[1][dim[0]] & (1 << 64) - 1)
            else:
                width = launches.WIDTHS[str(owner.dtype)]
                address, first, size = launches.span(tensors[id(owner)], width)
                slots.append(address)
                allocations.append((first, size, owner.label(), width))
        extents = [evaluate(extent, sizes) for extent in state.grid]
        extents += [1] * (3 - len(extents))
        if min(extents) > 0:
            _native.interpret(self.program.module, state.name, extents, slots, allocations, self.debug)
