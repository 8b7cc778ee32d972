"""The one way from a call of a new kind to the plan that its launcher runs: by the oracle, from the disk cache, or traced and
compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tilery import _native

from ..frontend.collection import no_collection
from . import cache
from .explanation import Explanation
from .ignored import Ignored
from .kept import Kept

if TYPE_CHECKING:
    from . import oracle


class Asked(BaseException):
    """Ends a call that was made to learn which compiled kernel it takes: nobody may take it for a mistake."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self.kernel = kernel


_asking = False


def asked(call: Callable[[], Any]) -> CompiledKernel | None:
    """The kernel that a compile callback, called by `call`, would have launched; None: it has none."""
    global _asking
    before, _asking = _asking, True
    try:
        call()
    except Asked as answer:
        return answer.kernel
    finally:
        _asking = before
    return None


def interpreted(debug: bool) -> bool:
    """Is this launch the oracle's?"""
    return debug or _native.environment_switch("TILERY_ORACLE")


class CompiledKernel:
    """A kernel for one kind of call. A language says in a subclass how it is traced and launched.

    :param function: the Python function that is traced; with ``specialisation``, plain values, it decides what comes out.
    :param signature: the kind of call, as the native launcher describes it.
    :param names: of the call's arguments in the kernel, by position; none: any that overlap may be written.
    :param options: for the compiler.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any] | None,
        specialisation: Any,
        signature: Any,
        names: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self.name, self.function, self.specialisation = name, function, specialisation
        self.device = signature.device
        self.options = {"disjoint": not signature.aliases, **options}
        if names and signature.aliases:  # the compiler knows which of them are written
            self.options["overlapping"] = sorted({(names[a], names[b]) for a, b, _ in signature.aliases})
        self.kept: Kept | None = None  # what `trace` gave
        self._ignored: Sequence[Ignored] | None = None  # by the kernel's own code
        self._ignored_hints: Sequence[str] | None = None  # of the usual code
        self._texts: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name} for {self._machine()}>"

    def _machine(self) -> str:
        return "the CPU" if self.device < 0 else f"GPU {self.device}"

    # -- what a language says ----------------------------------------------------------------------------------------
    language = ""  # in whose words hints are, as `_native.speak` names it

    def trace(self) -> Kept:
        """The module with the kernel's IR. Asked for once, and only where the disk cache has no code."""
        raise NotImplementedError

    def load(self, image: bytes) -> Any:
        """The native plan that launches this machine code."""
        raise NotImplementedError

    def interpret(self, debug: bool) -> oracle.Launch:
        """The plan that interprets the module on tensors in the CPU's memory; with `debug` it checks every access."""
        raise NotImplementedError

    # -- what follows ------------------------------------------------------------------------------------------------
    def plan(self, debug: bool = False) -> Any:
        """What runs calls of this kind."""
        self.answer()
        if interpreted(debug):
            from . import oracle

            return oracle.plan(self.interpret(debug), self.device)
        found = self.load(self.image())
        if self.kept is not None:
            self.kept.settle()
        return found

    def answer(self) -> None:
        """Ends the call where only this kernel is asked for."""
        if _asking:
            raise Asked(self)

    def image(self, **options: Any) -> bytes:
        """The machine code; `options` for the compiler beside the call's own."""
        _native.speak(self.language)
        usual, options = not options, {**self.options, **options}
        code, self._ignored = cache.image(self.function, self.specialisation, self.traced, device=self.device, **options)
        if usual and self.device >= 0:
            self._ignored_hints = _native.CodeImage(code).ignored_hints
        return code

    @property
    def possible_hints(self) -> Sequence[str]:
        """Names of the hints on which its code may depend."""
        names: Sequence[str] = _native.hints_of(cache.target_of(self.device))
        return names

    @property
    def ignored_hints(self) -> Sequence[str]:
        """Names of hints that its code could depend on and does not."""
        if self._ignored_hints is None:
            self._ignored_hints = _native.CodeImage(self.image()).ignored_hints
        return self._ignored_hints

    def ignores(self, hint: str) -> bool:
        """Does its code not depend on the hint of this name?"""
        return hint not in self.possible_hints or hint in self.ignored_hints

    def fresh_image(self) -> bytes:
        """The machine code, compiled whatever the disk cache holds."""
        return cache.fresh_image(self.module, self.device, self.options)

    def other_image(self, blocks: int = 0) -> bytes:
        """The code for launches that break a condition of the usual one: a GPU's copy engine does not take every tensor. With
        `blocks`: for launches of so few programs that the blocks of a cluster share each."""
        return self.image(cluster=blocks) if blocks else self.image(boxes=False)

    def ignored_by_call(self) -> Sequence[Ignored]:
        """Options beside the arguments that this kind of call sets in vain, or may: those that give hints."""
        return ()

    @property
    def explanation(self) -> Explanation:
        """How the kernel came to its code."""
        if self._ignored is None:
            self._ignored = self.traced().ignored
        told = (*self.ignored_by_call(), *self._ignored)
        return Explanation(tuple(each for each in told if not each.hint or self.ignores(each.hint)))

    @property
    def module(self) -> _native.Module:
        return self.traced().module

    @cached_property
    def text(self) -> str:
        """The tile IR of the kernels and the host function, before the passes."""
        return self.module.text()

    def traced(self) -> Kept:
        """The module, traced where it is not yet."""
        _native.speak(self.language)
        if self.kept is None:
            with no_collection():
                self.kept = self.trace()
        return self.kept

    @property
    def asm(self) -> dict[str, str]:
        """{"tile": IR before the passes, "passes": after them, "plan": what the target makes of it, "llvm", "asm"}."""
        if self._texts is None:
            self._texts = cache.stages(self.module, self.device, self.options)
        return self._texts

    def picture(self) -> str:
        """Of what its programs get, as SVG; empty: its language has none."""
        return ""

    def made(self, target: str | None = None) -> Any:
        """What the compiler makes of it (_native.Compiled), with the text of all stages, what holds it back and its plan; for
        another target than its device, by name."""
        return cache.made(self.module, self.device, self.options, target)
