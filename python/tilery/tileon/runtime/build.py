"""Extension modules from C: programs that bring C code of their own build it by the machine's C compiler. Kernels need none."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from types import ModuleType

from ...errors import error
from ...frontend.fingerprint import sha256
from .. import knobs
from .cache import get_cache_manager


def _build(
    name: str,
    src: str,
    srcdir: str,
    library_dirs: Sequence[str] = (),
    include_dirs: Sequence[str] = (),
    libraries: Sequence[str] = (),
    ccflags: Sequence[str] = (),
) -> str:
    """Builds the extension module `name` of a C file and returns its path.

    :raises tilery.RuntimeError: there is no C compiler."""
    if knobs.build.impl is not None:
        return knobs.build.impl(name, src, srcdir, library_dirs, include_dirs, libraries)  # type: ignore[no-any-return,misc]
    compiler = knobs.build.cc or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise error(RuntimeError, "no C compiler was found", hint="the environment variable CC names one")
    path = os.path.join(srcdir, f"{name}{sysconfig.get_config_var('EXT_SUFFIX').rpartition('.')[0]}.so")
    folders = [srcdir, sysconfig.get_paths()["include"], *include_dirs, *knobs.build.backend_dirs]
    command = [compiler, src, "-O3", "-shared", "-fPIC", "-Wno-psabi", "-o", path, *ccflags]
    command += [f"-I{folder}" for folder in folders]
    command += [*(f"-L{folder}" for folder in library_dirs), *(f"-l{library}" for library in libraries)]
    subprocess.check_call(command, stdout=subprocess.DEVNULL)
    return path


def _loaded(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise error(RuntimeError, f"{path} is no extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_module_from_src(
    src: str,
    name: str,
    library_dirs: Sequence[str] = (),
    include_dirs: Sequence[str] = (),
    libraries: Sequence[str] = (),
    ccflags: Sequence[str] = (),
) -> ModuleType:
    """The extension module of a C text; built once, and kept among the files of knobs.cache.dir."""
    manager = get_cache_manager(sha256(f"{name} {src} {list(ccflags)} {sysconfig.get_platform()}".encode()).hexdigest())
    file = f"{name}.so"
    path = manager.get_file(file)
    if path is not None:
        try:
            return _loaded(name, path)
        except (ImportError, RuntimeError):
            pass  # a damaged file is built again
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, f"{name}.c")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(src)
        with open(_build(name, source, folder, library_dirs, include_dirs, libraries, ccflags), "rb") as built:
            path = manager.put(built.read(), file, binary=True)
    return _loaded(name, path)
