"""Programs of others: every launch that a program makes is run by the reference interpreter, too, and compared; then again in
other ways (variants.py).

usage: ./run python -m pytest -p programs.launches TESTS ...       (PYTHONPATH with tests)
       ./run python -m programs.launches PROGRAM ARGUMENTS ...     as `tilery run PROGRAM` runs it
The last line: `launches of N kernels: N agree, N undetermined, N too long, N failed`. LAUNCHES_STEPS: ops that the interpreter
executes before a launch counts as too long; LAUNCHES_EACH: launches of a kernel that are compared; LAUNCHES_VARIANTS: the other
ways, with commas between them (usually all; empty: none)."""

import atexit
import copy
import os
import runpy
import sys
from collections import Counter

from programs import variants

from tilery import _native
from tilery.core import oracle

STEPS = int(os.environ.get("LAUNCHES_STEPS", "3000000"))
EACH = int(os.environ.get("LAUNCHES_EACH", "4"))
VARIANTS = [name for name in os.environ.get("LAUNCHES_VARIANTS", ",".join(variants.ALL)).split(",") if name]
OUTCOMES = ("agree", "undetermined", "too long", "refused", "failed")
counts, ways, seen, failures, kernels = Counter(), Counter(), Counter(), [], set()


def tensors(value):
    """The tensors in an argument: in tuples and lists, or what a descriptor is of."""
    if hasattr(value, "untyped_storage"):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)
    elif hasattr(getattr(value, "base", None), "untyped_storage"):
        yield value.base


class Copies:
    """Arguments whose tensors lie in storages of their own, in the CPU's memory or where they were."""

    def __init__(self, here):
        self.here, self.storages = here, {}

    def __call__(self, value):
        import torch

        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            key = storage.data_ptr()
            if key not in self.storages:
                self.storages[key] = storage.cpu().clone() if self.here else storage.clone()
            empty = torch.empty(0, dtype=value.dtype, device="cpu" if self.here else value.device)
            return empty.set_(self.storages[key], value.storage_offset(), value.shape, value.stride())
        if isinstance(value, (tuple, list)):
            return type(value)(*map(self, value)) if hasattr(value, "_fields") else type(value)(map(self, value))
        if isinstance(getattr(value, "base", None), torch.Tensor):
            changed = copy.copy(value)
            changed.base = self(value.base)
            return changed
        return value


def kind(launcher, args, named):
    """What distinguishes a launch from others of its kernel."""

    def of(value):
        if hasattr(value, "untyped_storage"):
            return (tuple(value.shape), value.stride(), str(value.dtype))
        return repr(value) if isinstance(value, (int, float, str, bool, type(None))) else type(value).__name__

    return (name(launcher), tuple(map(of, args)), tuple((k, of(v)) for k, v in sorted(named.items())))


def name(launcher):
    function = getattr(launcher, "fn", None) or getattr(launcher, "application", None) or getattr(launcher, "prim_func", launcher)
    code = getattr(function, "__code__", None)
    where = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno} " if code else ""
    return where + getattr(function, "__name__", type(launcher).__name__)


def compared(launcher, grid, args, named):
    """Runs a launch on copies by both; the outcome."""
    wanted, got = Copies(True), Copies(False)
    asked = {"_debug": True} if "tilelang" in type(launcher).__module__ else {"debug": True}
    on_gpu = any(t.is_cuda for t in tensors([*args, *named.values()])) or bool(os.environ.get("TILERY_EMULATE"))
    with oracle.bounds(STEPS, on_gpu) as bounds:
        try:
            given = [wanted(a) for a in args], {k: wanted(v) for k, v in named.items()}
            launcher.launch_plainly(grid, *given[0], **{**given[1], **asked})
        except Exception as error:
            text = f"{type(error).__name__}: {str(error)[:300]}"
            return ("too long" if "steps" in text else "refused"), text
    given = [got(a) for a in args], {k: got(v) for k, v in named.items()}
    launcher.launch_plainly(grid, *given[0], **given[1])
    if bounds.undetermined:
        return "undetermined", ""
    for tensor in tensors(list(args) + list(named.values())):
        key, dtype = tensor.untyped_storage().data_ptr(), str(tensor.dtype).removeprefix("torch.")
        if dtype.startswith("complex") or not key:
            continue
        first, second = wanted.storages[key], got.storages[key].cpu()
        found = bounds.differences(
            dtype.removesuffix("fn"), first.data_ptr(), second.data_ptr(), first.nbytes() // tensor.dtype.itemsize, 4
        )
        if found:
            return "failed", f"{dtype} {tuple(tensor.shape)}: " + "; ".join(f"[{at}] {text}" for at, text in found)
    return "agree", ""


def record(launcher, grid, args, named):
    """In the place of a launch: comparisons on copies, then the launch itself."""
    key = kind(launcher, args, named)
    if key not in seen and seen[key[0]] < EACH and all(t.layout.__str__() == "torch.strided" for t in tensors(list(args))):
        seen[key] += 1
        seen[key[0]] += 1
        kernels.add(key[0])
        for what, given, options in variants.of(launcher, args, named, VARIANTS):
            try:
                outcome, text = compared(launcher, grid, given, options)
            except Exception as error:
                outcome, text = "failed", f"{type(error).__name__}: {str(error)[:400]}"
            counts[outcome] += 1
            ways[what, outcome] += 1
            if os.environ.get("LAUNCHES_SHOW") and outcome == "refused":
                print(f"{key[0]} {what}: {text}", file=sys.stderr)
            if outcome == "failed":
                failures.append(f"{key[0]} {what}: {text}\n    {key[1:]}\n    {options}")
    return launcher.launch_plainly(grid, *args, **named)


def report():
    for failure in failures:  # pytest shows nothing of what a passing test prints
        print(f"failed: {failure}")
    for what in ("as it is", *VARIANTS):
        print(f"  {what}: " + ", ".join(f"{ways[what, each]} {each}" for each in OUTCOMES))
    text = ", ".join(f"{counts[each]} {each}" for each in OUTCOMES)
    print(f"launches of {len(kernels)} kernels: {text}", flush=True)


def install():
    record.while_timing = record  # what autotuners time, too
    _native.record_launches(record)
    atexit.register(report)


def pytest_sessionfinish(session):
    if failures:
        session.exitstatus = 1


def pytest_configure(config):
    from tilery import compat

    compat.install()
    install()


def main():
    from tilery import compat

    compat.install()
    install()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
