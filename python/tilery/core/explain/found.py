"""A launch as the compiler sees it: counts, plan and faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from tilery import _native

from .. import cache, compile
from ..arrays import layout
from ..cubin import registers
from .dealing import Finding, definition


class Block(NamedTuple):
    """What a GPU's block takes. registers: of a thread; 0: the driver has not said."""

    threads: int
    registers: int
    shared_bytes: int


@dataclass
class Found:
    """One launch. works: of each kernel that it runs; sizes: {address: bytes of the tensor that lies there}; why: nothing is
    known of it."""

    kernel: compile.CompiledKernel | None = None
    works: Sequence[_native.Work] = ()
    sizes: dict[int, int] = field(default_factory=dict)
    why: str = ""

    @property
    def findings(self) -> list[Any]:
        """What holds it back: as code was made, then as its sizes are."""
        made = list(self._made.findings) if self._made else []
        made += self._spills
        known = {(each.fault, line(each)) for each in made}
        return made + [each for work in self.works for each in work.findings if (each.fault, line(each)) not in known]

    @property
    def steps(self) -> list[Any]:
        """The plan in words."""
        return list(self._made.steps) if self._made else []

    @cached_property
    def _code(self) -> _native.CodeImage | None:
        """A GPU's machine code."""
        return _native.CodeImage(self.kernel.image()) if self.kernel and self.kernel.device >= 0 else None

    @cached_property
    def _spills(self) -> list[Finding]:
        """What the assembler says of a GPU's registers."""
        if self._code is None:
            return []
        return [_spilled(kernel.spill_bytes, self.kernel) for kernel in _native.load(self._code) if kernel.spill_bytes]

    @property
    def blocks(self) -> list[Block]:
        """What a block of each kernel takes; nothing on a CPU."""
        if self._code is None:
            return []
        known = registers(self._code.object)
        return [Block(each.threads, known.get(each.name, 0), each.shared_bytes) for each in _native.load(self._code)]

    @cached_property
    def _made(self) -> Any:
        return self.kernel.made() if self.kernel else None

    def text(self, stage: str) -> str:
        """As `asm` of the kernel has it ("plan", "passes"); empty: there is none."""
        return cache.stages_of(self.kernel.module, self._made)[stage] if self.kernel else ""

    def moved(self) -> list[tuple[str, float, float]]:
        """(argument, bytes that programs ask for, bytes that memory moves at least), a tensor that is read and written twice."""
        rows = []
        for work in self.works:
            for each in work.arguments:
                most = self.sizes.get(each.address, 0) or float("inf")
                parts = (each.loaded + each.updated, each.stored + each.updated)
                if any(parts):
                    rows.append((each.name, sum(parts), sum(min(part, most) for part in parts)))
        return rows


def _spilled(count: int, kernel: Any) -> Finding:
    return Finding(
        "spill",
        f"a thread has fewer registers than values: its code stores and loads {count} bytes for want of them",
        "take smaller tiles or more warps, so that a thread holds less, or shorten what lives across a loop",
        definition(kernel),
    )


def line(finding: Any) -> tuple[str, int]:
    """Its file and number; "" and 0: none is known."""
    return (finding.chain[0].file, finding.chain[0].line) if finding.chain else ("", 0)


def find(launch: Callable[[], Any]) -> Found:
    """What the compiler knows of the launch that `launch` would make. It is not made."""
    found = Found()

    def ask(compile_callback: Callable[..., Any], signature: Any, values: Mapping[str, Any], grid: Any) -> None:
        kernel = compile.asked(lambda: compile_callback(signature, values))
        if kernel is None:
            return
        found.kernel = kernel
        found.works = kernel.interpret(False).count(grid, values, kernel.device < 0)  # type: ignore[attr-defined]  # both kinds have it
        for value in values.values():
            if hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__"):
                _note_size(found.sizes, value)

    _native.ask_launches(ask, launch)
    return found


def _note_size(sizes: dict[int, int], tensor: Any) -> None:
    elements = 1
    for extent, stride in zip(*layout(tensor)):
        elements *= extent if stride else 1
    item = getattr(tensor, "itemsize", None) or tensor.element_size()
    address = tensor.data_ptr() if hasattr(tensor, "data_ptr") else tensor.__array_interface__["data"][0]
    sizes[address] = max(sizes.get(address, 0), elements * item)
