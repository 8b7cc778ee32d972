"""A compiled kernel as programs hold it: launched again, asked for its code and for what it takes."""

from __future__ import annotations

import copy
import functools
import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilery import _native

from ...core import cache
from ...core import compile as core
from ...core.cubin import registers
from ...core.kept import Kept
from ...errors import error
from ...frontend.wording import counted
from ..backends import make_backend
from ..backends.active import driver
from ..backends.compiler import DEFAULTS, GPUTarget
from ..backends.driver import target_of
from .key import triton_key

_MOST_THREADS = 1024  # of a block, on every NVIDIA GPU


def _fields(*names: str) -> Any:
    """A type of named fields."""
    return namedtuple("KernelMetadata", names)


KernelMetadata = _fields(
    "name",
    "hash",
    "target",
    "shared",
    "tmem_size",
    "global_scratch_size",
    "global_scratch_align",
    "profile_scratch_size",
    "profile_scratch_align",
    "tensordesc_meta",
    *DEFAULTS,
)


class KernelHandle(core.CompiledKernel):
    """The part of a CompiledKernel that programs see."""

    language = "tileon"
    asked: Any = None  # the ASTSource that `compile` was given; None: a launch asked
    target: GPUTarget | None = None  # what `compile` was asked for
    code: bytes | None = None
    kernel: Any = None  # the JITFunction, or what stands for it where arguments are structures
    structure: Any = None
    arguments: list[tuple[Any, ...]]
    slots: list[int]
    given: dict[str, Any]
    _run: _Run | None = None

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name}({', '.join(map(_written, self.arguments))}) for {self._machine()}>"

    def _machine(self) -> str:
        return super()._machine() if self.target is None or self.target.backend == "cpu" else self.target.native

    @property
    def jit_function(self) -> Any:
        """The JITFunction; None: it is gone."""
        return self.asked.fn if self.asked is not None else getattr(self.kernel, "kernel", None) or self.kernel

    @property
    def _is_here(self) -> bool:
        """Is it for this machine?"""
        if self.target is None or self.target.backend == "cpu":
            return True
        here = driver.active.get_current_target()
        return self.target[:2] == here[:2]

    @property
    def _elsewhere(self) -> str | None:
        """The compiler's name of the target, where that is not the device that tensors lie on."""
        if self.target is None or self.target.backend == "cpu" or (self.device >= 0 and self._is_here):
            return None
        name = self.target.native
        here = _native.gpu_target(0) if _native.gpu_count() else ""
        return here if here.split(":")[0] == name else name

    # -- launches ----------------------------------------------------------------------------------------------------
    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """kernel[grid](*args, stream=None): a launch, with all arguments by position or with those of run time alone."""
        extents = (*grid, 1, 1)[:3] if isinstance(grid, (tuple, list)) else (grid, 1, 1)

        def launch(*args: Any, stream: int | None = None) -> None:
            self.run(*extents, stream, None, None, None, None, None, *args)

        return launch

    def _init_handles(self) -> None:
        """Makes `run`."""
        if self._run is None:
            kinds = ["plain" if len(argument) > 2 else "constexpr" for argument in self.arguments]
            parameters = [(argument[0], kind) for argument, kind in zip(self.arguments, kinds)]
            self._run = _Run(self, _native.Launcher(self.name, parameters, _Plans(self)))

    @property
    def run(self) -> Callable[..., None]:
        """run(grid x, y, z, stream, function, metadata, launch metadata, hook before, hook after, *arguments): all the kernel's
        arguments, those known at compile time too, or those of run time alone. GPUs: on `stream`, or torch's current one."""
        self._init_handles()
        assert self._run
        return self._run

    def in_order(self, args: Sequence[Any]) -> Sequence[Any]:
        """The arguments as the launcher takes them: leaves of structures, one for each of `arguments`."""
        if self.structure is not None:
            from ..runtime.structured import take_apart

            args = args if len(args) == len(self.structure) else self._with_known(args)
            leaves: list[Any] = []
            for value, description in zip(args, self.structure):
                take_apart(value, leaves) if description else leaves.append(value)
            return leaves
        if len(args) == len(self.arguments):
            return args
        if len(args) == len(self.slots):
            given = iter(args)
            return [next(given) if len(argument) > 2 else argument[1] for argument in self.arguments]
        run_time = f", or the {len(self.slots)} of run time" if len(self.slots) != len(self.arguments) else ""
        raise error(TypeError, f"{self.name}() takes {counted(len(self.arguments), 'argument')}{run_time}; got {len(args)}")

    def _with_known(self, args: Sequence[Any]) -> list[Any]:
        """All arguments of a kernel that takes structures, of those of run time alone."""
        from ..runtime.structured import count

        parts, known = iter(self.arguments), []
        for description in self.structure:
            argument = [next(parts) for _ in range(count(description))]
            known.append(argument[0][1:] if description is None and len(argument[0]) == 2 else None)
        if len(args) != known.count(None):
            raise error(TypeError, f"{self.name}() takes {counted(len(known), 'argument')}, got {len(args)}")
        given = iter(args)
        return [next(given) if value is None else value[0] for value in known]

    def launch_metadata(self, grid: Sequence[int], stream: int, *args: Any) -> Any:
        """What hooks of a launch are told."""
        from ..runtime.observe import launch_metadata

        function = self.jit_function
        named = dict(zip(function.arg_names, args)) if function is not None else {}
        return launch_metadata(self, getattr(function, "launch_metadata", None), tuple(grid), stream, named)

    # -- what it is --------------------------------------------------------------------------------------------------
    @functools.cached_property
    def hash(self) -> str:
        """A digest of all that decided what it is."""
        import hashlib  # milliseconds

        parts = [triton_key(), self.jit_function.cache_key, self.specialisation, sorted(self.options.items())]
        parts += [make_backend(self._place()).parse_options(self.given), self._place()]
        return hashlib.sha256(str(parts).encode()).hexdigest()

    @functools.cached_property
    def metadata(self) -> Any:
        """A named tuple: name, hash, target, shared (bytes of a block's shared memory) and the options."""
        options = make_backend(self._place()).parse_options(self.given)
        return KernelMetadata(**{**vars(options), **self._facts()})

    def _place(self) -> GPUTarget:
        """The target of its code: the one that `compile` was asked for, or where the tensors of a launch lie, which need not be
        the active device."""
        return self.target or target_of(self.device)

    def _facts(self) -> dict[str, Any]:
        native = self.native
        return {
            "name": self.name,
            "hash": self.hash,
            "target": self._place(),
            "shared": native.shared_bytes if native else 0,
            "tmem_size": None,
            "global_scratch_size": 0,
            "global_scratch_align": 1,
            "profile_scratch_size": 0,
            "profile_scratch_align": 1,
            "tensordesc_meta": (),
        }

    @property
    def packed_metadata(self) -> tuple[int, ...]:
        about = self.metadata
        return about.num_warps, about.num_ctas, about.shared, *about.cluster_dims

    @property
    def native(self) -> Any:
        """The kernel in executable memory; None: it is for another machine, or the oracle's."""
        if self._elsewhere is not None or self.debug and self.code is None:
            return None
        return _native.load(self.code or self.image())[0]

    @property
    def n_spills(self) -> int:
        """Of a GPU's kernel: words that a thread spills; of a CPU's 0."""
        return self.native.spill_bytes // 4 if self.native else 0

    @property
    def n_regs(self) -> int:
        """Of a GPU's kernel: registers of a thread; of a CPU's 0."""
        if self.device < 0 or self._elsewhere is not None:
            return 0
        return max(registers(_native.CodeImage(super().image()).object).values(), default=0)

    @property
    def n_max_threads(self) -> int:
        """Of a GPU's kernel: threads of a block; of a CPU's 1."""
        return max(self.native.threads, 1) if self.native else 1

    def image(self, **options: Any) -> bytes:
        if self.code is not None and self.options["disjoint"] and not options:
            return self.code  # made by `compile`, maybe in another process
        elsewhere, threads = self._elsewhere, 32 * (self.hints.get("num_warps") or 0)
        if threads > _MOST_THREADS and (elsewhere or cache.target_of(self.device)).startswith("sm_"):
            from ..runtime.errors import OutOfResources

            raise OutOfResources(threads, _MOST_THREADS, "threads")
        return super().image(**({"target": elsewhere} if elsewhere else {}), **options)

    @property
    def asm(self) -> dict[str, Any]:
        """The stages: "tile" (IR before the passes), "passes" (after them), "plan", "llvm", "asm", and the same by upstream's
        names: on a GPU ttir, ttgir, llir, ptx and cubin (bytes), on a CPU ttir, tttcir and llir."""
        if self._texts is None:
            elsewhere = self._elsewhere
            texts: dict[str, Any] = dict(cache.stages(self.module, self.device, self.options, elsewhere))
            texts |= {"ttir": texts["tile"], "llir": texts["llvm"]}
            if (elsewhere or cache.target_of(self.device)).startswith("sm_"):
                texts |= {"ttgir": texts["passes"], "ptx": texts["asm"]}
                if elsewhere is None:
                    texts = _WithSass(texts, cubin=_native.CodeImage(super().image()).object)
            else:
                texts["tttcir"] = texts["passes"]
            self._texts = texts
        return self._texts


class _WithSass(dict[str, Any]):
    """Stages whose "sass" is made by NVIDIA's disassembler when it is asked for."""

    def __missing__(self, key: str) -> Any:
        if key != "sass":
            raise KeyError(key)
        from ..tools.disasm import get_sass

        self[key] = get_sass(self["cubin"])
        return self[key]


def _written(argument: tuple[Any, ...]) -> str:
    """One of `KernelHandle.arguments`, as a signature has it."""
    name, *known = argument
    if len(known) == 1:
        return f"{name}={known[0]!r}"
    element, pointer, _, divisor = known
    return f"{name}: {'*' if pointer else ''}{element}" + (f":{divisor}" if divisor > 1 else "")


def _no_plan(*_: Any) -> None:
    """Of a kernel that is never launched by itself."""


class _Plans:
    """The plans of a kernel that was compiled before: the launcher asks for one when it meets a new kind of call."""

    def __init__(self, compiled: KernelHandle) -> None:
        self.compiled = compiled
        self.known: dict[Any, Any] = {}

    def __call__(self, signature: Any, values: Mapping[str, Any]) -> Any:
        """Machine code, whatever the switch `debug` of the compilation says: that makes its assertions.

        :raises tilery.ValueError: a tensor lies where the code does not run."""
        self._reaches(signature)
        disjoint = not self._overlaps(signature.aliases)
        divisors = tuple(p[2] for p in signature.params if p[0] == "pointer")
        key = disjoint, signature.device, divisors
        if key not in self.known:
            compiled = self._of_alignment(signature.params)
            compiled.device = signature.device
            compiled.options = {**compiled.options, "disjoint": disjoint}
            self.known[key] = compiled.plan()
        return self.known[key]

    def _reaches(self, signature: Any) -> None:
        target = self.compiled.target
        if target is None or (target.backend == "cpu") == (signature.device < 0):
            return
        place = "cpu" if signature.device < 0 else "GPU"
        for i, known in enumerate(signature.params):
            if known[0] == "pointer":
                raise error(
                    ValueError,
                    f"Pointer argument (at {i}) cannot be accessed from Triton ({place} tensor?)",
                    hint=f"{self.compiled.name} was compiled for {target.backend}",
                )

    def _of_alignment(self, params: Sequence[tuple[Any, ...]]) -> Any:
        """The kernel, or one like it for pointers that lie worse than it takes for granted."""
        compiled = copy.copy(self.compiled)
        arguments = list(compiled.arguments)
        for i, (argument, known) in enumerate(zip(arguments, params)):
            if known[0] == "pointer" and len(argument) > 2 and argument[4] > known[2]:
                arguments[i] = (*argument[:4], known[2])
        if arguments == compiled.arguments:
            return compiled
        kept = None
        if compiled.function is None:
            text = compiled.traced().text
            for name, *known in arguments:
                if len(known) > 1:
                    named = rf'(?<=tile\.divisibility = )\d+(?= : i64, tile\.name = "{re.escape(name)}")'
                    text = re.sub(named, str(known[3]), text)
            kept = Kept(text=text)
        compiled.arguments, compiled.code, compiled.kept = arguments, None, kept
        compiled.specialisation = compiled._specialisation()
        if compiled.structure is not None and compiled.assemble is None:
            compiled.assemble = compiled.asked.call(_no_plan)[0].assemble
        return compiled

    def _overlaps(self, aliases: Sequence[tuple[int, int, str]]) -> bool:
        """Does an argument that the kernel writes share bytes with another one?"""
        if not aliases:
            return False
        kernel = _native.load(self.compiled.code or self.compiled.image())[0]
        written = {slot for slot, argument in zip(self.compiled.slots, kernel.args) if argument[3]}
        return any(a in written or b in written for a, b, _ in aliases)


class _Run:
    """Launches, as upstream's launchers are called."""

    def __init__(self, compiled: KernelHandle, launcher: _native.Launcher) -> None:
        self.compiled, self.launcher = compiled, launcher
        self.count = len(compiled.arguments) if compiled.structure is None else -1
        if not compiled._is_here:
            raise error(RuntimeError, f"{compiled.name} was compiled for {compiled.target}, which is not this machine")

    def __call__(
        self, x: int, y: int, z: int, stream: Any, function: Any, metadata: Any, launch: Any, before: Any, after: Any, *args: Any
    ) -> None:
        if len(args) != self.count:
            args = tuple(self.compiled.in_order(args))
        if before is not None:
            before(launch)
        if stream:
            self._on(stream, (x, y, z), args)
        else:
            self.launcher[x, y, z](*args)
        if after is not None:
            after(launch)

    def _on(self, stream: int, grid: tuple[int, int, int], args: tuple[Any, ...]) -> None:
        import torch

        if torch.cuda.current_stream().cuda_stream == stream:
            self.launcher[grid](*args)
            return
        with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
            self.launcher[grid](*args)
