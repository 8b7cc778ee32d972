"""Programs as source text: what one is, how it runs, and what counts as wrong.

A program's source defines `launch(debug, ...)` with a parameter for each of its tensors. It runs twice: by the reference
interpreter, which notes between which bounds any right implementation stays, and by what is under test. Tensors lie between
guards; what nobody wrote is 0xff in every byte (NaN, -1) in tensors, and in the memory that CPU programs work in."""

import importlib.util
import linecache
import os
import re
import sys
import tempfile
import traceback
from dataclasses import dataclass, field

import torch

from tilery import _native
from tilery.core import oracle

GUARD = 64  # elements on each side of a tensor
SCRATCH = 4 << 20  # bytes of a thread's working memory that are poisoned
FLOATS = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


@dataclass(frozen=True)
class Argument:
    """A tensor of a program. `fill`: normal, positive (0.1 to 2), small (integers from -4 to 4), below:N (0 to N - 1), any (every
    number of an integer type), none: poison, for what the program writes."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    fill: str = "normal"
    strides: tuple[int, ...] | None = None  # in elements; None: row-major

    def span(self):
        """Elements of memory from the first to the last one."""
        if 0 in self.shape:
            return 0
        return 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.steps()))

    def steps(self):
        if self.strides is not None:
            return self.strides
        steps = [1] * len(self.shape)
        for d in range(len(self.shape) - 1, 0, -1):
            steps[d - 1] = steps[d] * self.shape[d]
        return tuple(steps)


@dataclass(frozen=True)
class Program:
    language: str
    seed: int
    source: str
    arguments: tuple[Argument, ...]

    def text(self):
        """The source, with its tensors in a comment."""
        return f"# {self.language} {self.seed}\n" + "".join(f"# {a}\n" for a in self.arguments) + self.source

    @staticmethod
    def read(text):
        """The program that `text` has written; lines of comment before that say what it is kept for."""
        lines = text.splitlines(keepends=True)
        number = next(n for n, line in enumerate(lines) if re.fullmatch(r"# [a-z]+ \d+", line.strip()))
        _, language, seed = lines[number].split()
        arguments, number = [], number + 1
        while lines[number].startswith("# Argument("):
            arguments.append(eval(lines[number][2:], {"Argument": Argument}))
            number += 1
        return Program(language, int(seed), "".join(lines[number:]), tuple(arguments))


@dataclass
class Outcome:
    """agrees, undetermined (what it does hangs on a rounded value), invalid (the interpreter refuses it, too), or a failure:
    differs (wrong numbers), fails (an error that the interpreter does not have)."""

    kind: str
    text: str = ""
    bounded: float = 1.0  # the part of the elements that the bounds say something about

    @property
    def failed(self):
        return self.kind in ("differs", "fails")


@dataclass
class Memory:
    """A program's tensors, each in a storage of its own between guards."""

    storages: list = field(default_factory=list)
    tensors: list = field(default_factory=list)

    @staticmethod
    def of(program):
        memory = Memory()
        generator = torch.Generator().manual_seed(program.seed)
        for argument in program.arguments:
            dtype = getattr(torch, argument.dtype)
            count = argument.span() + 2 * GUARD
            storage = torch.full((count * dtype.itemsize,), 1 if argument.dtype == "bool" else 255, dtype=torch.uint8)
            storage = storage.view(dtype)
            tensor = storage.as_strided(argument.shape, argument.steps(), GUARD)
            if argument.fill != "none":
                once = [slice(0, 1) if not stride else slice(None) for stride in argument.steps()]  # of what repeats
                tensor[tuple(once)].copy_(filled(argument, generator)[tuple(once)])
            memory.storages.append(storage)
            memory.tensors.append(tensor)
        return memory

    def to(self, device):
        """A copy that lies on the device."""
        copy = Memory()
        for storage, tensor in zip(self.storages, self.tensors):
            moved = storage.clone().to(device)
            copy.storages.append(moved)
            copy.tensors.append(moved.as_strided(tensor.shape, tensor.stride(), GUARD))
        return copy


def filled(argument, generator):
    shape, (kind, _, number) = argument.shape, argument.fill.partition(":")
    dtype = getattr(torch, argument.dtype)
    if kind == "below":
        return torch.randint(0, max(1, int(number)), shape, generator=generator).to(dtype)
    if kind == "any" or argument.dtype == "bool":
        low, high = (0, 2) if argument.dtype == "bool" else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
        return torch.randint(max(low, -(2**62)), min(high, 2**62), shape, generator=generator).to(dtype)
    if kind == "small" or argument.dtype not in FLOATS:
        return torch.randint(0 if "uint" in argument.dtype else -4, 5, shape, generator=generator).to(dtype)
    if kind == "positive":
        return (torch.rand(shape, generator=generator) * 1.9 + 0.1).to(dtype)
    return torch.randn(shape, generator=generator).to(dtype)


def load(program, folder):
    """The module of a program's source."""
    name = f"tilery_program_{program.language}_{program.seed}"
    path = os.path.join(folder, name + ".py")
    with open(path, "w") as file:
        file.write(program.source)
    linecache.checkcache(path)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def described(error):
    """An error in a line or two."""
    return f"{type(error).__name__}: {str(error).strip()[:600]}"


def compare(program, bounds, wanted, got):
    """What is wrong with `got`: some elements of the first tensor that differs, or an empty string."""
    for argument, expected, storage in zip(program.arguments, wanted.storages, got.storages):
        storage, dtype = storage.cpu(), argument.dtype.removesuffix("fn").removeprefix("torch.")
        found = bounds.differences(dtype, expected.data_ptr(), storage.data_ptr(), expected.numel(), 6)
        if not found:
            continue

        def place(at, argument=argument):
            at -= GUARD
            if not 0 <= at < argument.span():
                return f"outside of {argument.name}"
            index = []
            for size, stride in sorted(zip(argument.shape, argument.steps()), key=lambda pair: -pair[1]):
                index.append(min(at // stride if stride else 0, size - 1))
                at -= index[-1] * stride
            return f"{argument.name}{index}" if not at else f"between the elements of {argument.name}"

        return "; ".join(f"{place(at)}: {text}" for at, text in found)
    return ""


def run(program, folder=None, device="cpu"):
    """Runs a program by the interpreter and by machine code (the GPU's on that device), and compares."""
    if folder is None:
        with tempfile.TemporaryDirectory() as folder:
            return run(program, folder, device)
    wanted = Memory.of(program)
    got = wanted.to(device)
    try:
        module = load(program, folder)
        with oracle.bounds(tensor_cores=device != "cpu" or bool(os.environ.get("TILERY_EMULATE"))) as bounds:
            module.launch(True, *wanted.tensors)
    except Exception as error:
        return Outcome("invalid", described(error) + trace(error, program))
    if device == "cpu":
        _native.poison_scratch(SCRATCH)
    try:
        module.launch(False, *got.tensors)
        if device != "cpu":
            torch.cuda.synchronize()
    except Exception as error:
        return Outcome("fails", described(error))
    finally:
        sys.modules.pop(module.__name__, None)
    if bounds.undetermined:
        return Outcome("undetermined")
    outputs = [
        (a.dtype.removesuffix("fn"), s.data_ptr(), s.numel())
        for a, s in zip(program.arguments, wanted.storages)
        if a.fill == "none"
    ]
    known = sum(bounds.bounded(*output) for output in outputs) / max(1, sum(count for _, _, count in outputs))
    difference = compare(program, bounds, wanted, got)
    return Outcome("differs", difference, known) if difference else Outcome("agrees", bounded=known)


def trace(error, program):
    """Where in the program's own text an error of Python came from: a fault of the generator, as a rule."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if "tilery_program" in frame.filename]
    return f" (line {lines[-1]}: {program.source.splitlines()[lines[-1] - 1].strip()})" if lines else ""
