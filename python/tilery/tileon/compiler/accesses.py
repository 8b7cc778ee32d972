"""What a kernel reads and writes, in the form in which programs (torch.compile) find it out: by a walk over the operations of
upstream's IR. Here that is one function of loads and stores of its arguments."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tilery import _native


class _Numbered:
    """A thing with an identity."""

    _count = itertools.count()

    def __init__(self) -> None:
        self._id = next(self._count)

    def id(self) -> int:
        return self._id


class Block(_Numbered):
    """The only block of a function: its arguments are the kernel's."""

    def __init__(self, region: _Numbered, arguments: Sequence[_Numbered]) -> None:
        super().__init__()
        self.region, self.arguments = region, arguments

    def get_num_arguments(self) -> int:
        return len(self.arguments)

    def get_argument(self, number: int) -> _Numbered:
        return self.arguments[number]

    def get_parent(self) -> _Numbered:
        return self.region


class Operation:
    """An operation without results."""

    def __init__(
        self,
        name: str,
        block: Block | None,
        operands: Sequence[_Numbered] = (),
        regions: Sequence[_Numbered] = (),
        symbol: str = "",
    ) -> None:
        self.name, self.block, self.operands, self.regions, self.symbol = name, block, operands, regions, symbol

    def get_name(self) -> str:
        return self.name

    def get_num_operands(self) -> int:
        return len(self.operands)

    def get_operand(self, number: int) -> _Numbered:
        return self.operands[number]

    def get_num_results(self) -> int:
        return 0

    def get_num_regions(self) -> int:
        return len(self.regions)

    def get_region(self, number: int) -> _Numbered:
        return self.regions[number]

    def get_block(self) -> Block | None:
        return self.block

    def get_str_attr(self, name: str) -> str | None:
        return self.symbol if name == "sym_name" else None


class Accesses:
    """The module of a compiled kernel. Its arguments are those of run time; a descriptor's are its address, extents, strides."""

    def __init__(self, compiled: Any) -> None:
        written = [argument[3] for argument in _native.load(compiled.code)[0].args]
        region = _Numbered()
        arguments: list[_Numbered] = []
        self.block = Block(region, arguments)
        self.operations: list[Operation] = []
        structure = compiled.structure or [None] * len(compiled.arguments)
        leaves = iter(compiled.arguments)
        slots = iter(written)
        for description in structure:
            count = 2 * description[1] if description else 1
            taken = [leaf for leaf in itertools.islice(leaves, count) if len(leaf) > 2]
            for number, (leaf, is_written) in enumerate(zip(taken, slots)):
                arguments.append(_Numbered())
                if leaf[2]:
                    self._access(arguments[-1], is_written, "descriptor_" if description else "")
                if description and number == len(taken) - 1:
                    arguments.append(_Numbered())  # the innermost stride, which is 1
        self.operations.append(Operation("tt.return", self.block))
        self.operations.append(Operation("tt.func", None, regions=[region], symbol=compiled.name))
        self.operations.append(Operation("builtin.module", None))

    def _access(self, pointer: _Numbered, is_written: bool, prefix: str) -> None:
        self.operations.append(Operation(f"tt.{prefix}load", self.block, [pointer]))
        if is_written:
            self.operations.append(Operation(f"tt.{prefix}store", self.block, [pointer]))

    def verify(self) -> bool:
        return True

    def walk(self, visit: Callable[[Operation], Any]) -> None:
        """Calls it for each operation, those inside before what they are in."""
        for operation in self.operations:
            visit(operation)
