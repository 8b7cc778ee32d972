"""Says what is here, a line each; a line that begins with `mend` says what to do. The exit status is 1 where there is one."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata

from ..frontend.wording import counted

OK, MEND = "ok", "mend"
Line = tuple[str, str, str]  # OK or MEND, what it is about, what is to be said


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(arguments: argparse.Namespace) -> int:
    found = [*lines()]
    for state, about, text in found:
        print(f"{state:6}{about:12}{text}")
    return int(any(state == MEND for state, _, _ in found))


def lines() -> Iterator[Line]:
    yield from _versions()
    try:
        import tilery._native  # noqa: F401
    except ImportError as wrong:
        yield MEND, "tilery", f"its native module cannot be loaded ({wrong}): install the wheel of this Python and system"
        return
    yield from _cpu()
    yield from _gpu()
    yield from _cache()
    yield from _variables()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _versions() -> Iterator[Line]:
    import tilery

    yield OK, "python", f"{platform.python_version()}, {sys.executable}"
    try:
        yield OK, "tilery", f"{tilery.__version__}, {os.path.dirname(os.path.abspath(tilery.__file__))}"
    except ImportError:
        pass  # the next line says why
    found = {package: _version(package) for package in ("numpy", "torch")}
    for package, version in found.items():
        yield OK, package, version or "not installed"
    if not any(found.values()):
        yield MEND, "tensors", "neither numpy nor torch is installed: pip install numpy"


def _model_name(path: str = "/proc/cpuinfo") -> str:
    """As the system names the processor; in a root without /proc nobody does."""
    try:
        with open(path, encoding="utf-8") as file:
            names = re.findall(r"^model name\s*: (.*)$", file.read(), re.M)
    except OSError:
        names = []
    return names[0] if names else "a processor without a name"


def _cpu() -> Iterator[Line]:
    from tilery import _native

    from ..aot.targets import CPU_TARGETS

    if platform.machine() != "x86_64":
        yield MEND, "cpu", f"this is a {platform.machine()}: code for CPUs is made for x86-64 alone"
        return
    here = _native.cpu_features_of("host")
    runs = [name for name in CPU_TARGETS if name != "host" and not _native.cpu_features_of(name) & ~here]
    name = _model_name()
    if not runs:
        yield MEND, "cpu", f"{name} shows no AVX2, FMA or BMI2: use a processor, or a virtual machine, that has them"
        return
    try:
        threads = counted(_native.num_threads(), "thread")
    except ValueError:
        threads = counted(len(os.sched_getaffinity(0)), "CPU")  # the variable's line says what is wrong
    yield OK, "cpu", f"{name}, {threads}; runs code for {', '.join(runs)}"


def _gpu() -> Iterator[Line]:
    from tilery import _native

    count = _native.gpu_count()
    if not count:
        try:
            _native.gpu_properties(0)
        except RuntimeError as wrong:
            why = str(getattr(wrong, "message", wrong))
            is_hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1")
            if os.path.exists("/dev/nvidiactl") and not is_hidden:
                yield MEND, "gpu", f"there is a device, but {why}; {getattr(wrong, 'hint', None) or 'see nvidia-smi'}"
            else:
                yield OK, "gpu", f"none: {why}" + (" (CUDA_VISIBLE_DEVICES hides all)" if is_hidden else "")
        return
    for device in range(count):
        about = _native.gpu_properties(device)
        name = "{name}, compute capability {}.{}, {multiprocessors} multiprocessors".format(*about["capability"], **about)
        try:
            target, _, driver = _native.gpu_target(device).partition(":cuda")
        except Exception as wrong:  # too old; or TILERY_GPU_TARGET, which has a line of its own
            yield MEND, f"gpu {device}", f"{name}: {wrong}".replace("\n ", ";")
            continue
        version = f"{int(driver) // 1000}.{int(driver) % 1000 // 10}" if driver.isdecimal() else "unknown"
        yield OK, f"gpu {device}", f"{name}; driver of CUDA {version}; code for {target}"
    if _native.gpu_assembler_is_here():
        yield OK, "assembler", "the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1)"
    else:
        hint = "install it in the driver's own version; containers get it with NVIDIA_DRIVER_CAPABILITIES=compute"
        yield MEND, "assembler", f"the driver's PTX compiler, libnvidia-ptxjitcompiler.so.1, is not found: {hint}"


def _cache() -> Iterator[Line]:
    from tilery import _native

    from .cache import size_of

    try:
        folder = _native.cache_folder()
    except ValueError:
        return  # its variable has a line
    if not folder:
        yield OK, "cache", "off (TILERY_CACHE_DIR is empty): each process compiles anew"
        return
    size = size_of(sum(size for _, size, _ in _native.cache_entries()))
    problem = _cannot_write(folder)
    if problem:
        yield MEND, "cache", f"{folder} {problem}, so that each process compiles anew: name another folder by TILERY_CACHE_DIR"
    else:
        yield OK, "cache", f"{folder}, {size} of at most {size_of(_native.cache_limit())}"


def _cannot_write(folder: str) -> str | None:
    """Why entries cannot be put into a folder, or into what is to become it; None: they can."""
    there = folder
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        return "is no folder" if there == folder else f"cannot be made: {there} is no folder"
    if there == folder and os.stat(folder).st_uid != os.geteuid():
        return "belongs to another user"
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"\0" * 4096)
            file.flush()
    except OSError as wrong:
        return f"cannot be written ({wrong.strerror})"
    return None


def _variables() -> Iterator[Line]:
    from tilery import _native

    from ..frontend.wording import did_you_mean

    known = [name for name, _, _ in _native.environment_variables()]
    for name in sorted(name for name in os.environ if name.startswith("TILERY_")):
        if name not in known:
            near = did_you_mean(name, known) or "docs/reference/environment.md lists what there is"
            yield MEND, "variable", f"{name} is not known and does nothing; {near} (unset it)"
            continue
        try:
            yield OK, "variable", f"{name}={_native.environment_text(name)}"
        except ValueError as wrong:
            yield MEND, "variable", str(getattr(wrong, "message", wrong)) + "; set it to that, or unset it"
