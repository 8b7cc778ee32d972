"""Switches: each is an environment variable that a program may set, scope and reset as an attribute.

What is set here is written to the environment, too (unless `propagate_env` is False), so that child processes see it. Those that
name tools and habits of upstream's compiler are kept for programs that read and set them; docs/reference/languages.md lists those
that decide something here."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tilery import _native

from ..core.switches import is_on


class Env:
    """Assigned to a switch: read the environment again."""


env = Env()
propagate_env = True


class _Switch:
    """An attribute of a group, whose own `__dict__` holds what was assigned to it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, knobs: Any, owner: type | None = None) -> Any:
        if knobs is None:
            return self
        return knobs.__dict__[self.name] if self.name in knobs.__dict__ else self.unassigned(knobs)

    def unassigned(self, knobs: Any) -> Any:
        """Its value as long as none was assigned."""
        raise NotImplementedError


class env_base(_Switch):
    """A switch that reads the environment variable `key`; as long as nothing else was assigned."""

    def __init__(self, key: str, default: Any = None) -> None:
        self.key, self.default = key, default

    def unassigned(self, knobs: Any) -> Any:
        return self.get()

    def __set__(self, knobs: Any, value: Any) -> None:
        if isinstance(value, Env):
            self.__delete__(knobs)
            return
        knobs.__dict__[self.name] = self.transform(value)
        if propagate_env:
            text = self.text(value)
            if text is None:
                os.environ.pop(self.key, None)
            else:
                os.environ[self.key] = text

    def __delete__(self, knobs: Any) -> None:
        knobs.__dict__.pop(self.name, None)

    def get(self) -> Any:
        """What the environment says."""
        found = os.environ.get(self.key)
        return (self.default() if callable(self.default) else self.default) if found is None else self.parse(found)

    def parse(self, text: str) -> Any:
        return text

    def transform(self, value: Any) -> Any:
        """What reading gives after this was assigned."""
        return value

    def text(self, value: Any) -> str | None:
        """As the environment holds it; None: not at all."""
        return None if value is None else str(value)


class env_str(env_base):
    """A text."""


class env_opt_str(env_base):
    """A text, or None."""


class env_str_callable_default(env_base):
    """A text whose default is computed."""


class env_bool(env_base):
    """1, true, on, yes and y, or 0, false, off, no, n and nothing, in any case; other texts are refused."""

    def __init__(self, key: str, default: Any = False) -> None:
        super().__init__(key, default)

    def parse(self, text: str) -> bool:
        return text != "" and is_on(self.key, text)

    def text(self, value: Any) -> str | None:
        return None if value is None else "1" if value else "0"


class env_opt_bool(env_bool):
    """A flag, or None."""

    def __init__(self, key: str, default: Any = None) -> None:
        super().__init__(key, default)


class env_int(env_base):
    """A number."""

    def __init__(self, key: str, default: Any = 0) -> None:
        super().__init__(key, default)

    def parse(self, text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise RuntimeError(f"{self.key} is {text!r}; an int is expected") from None


class env_class(env_base):
    """A class, as `module:name` in the environment."""

    def __init__(self, key: str, kind: str) -> None:
        super().__init__(key)
        self.kind = kind

    def parse(self, text: str) -> Any:
        module, _, name = text.partition(":")
        if module.partition(".")[0] == "triton":
            module = __package__ + module.removeprefix("triton")
        found = getattr(importlib.import_module(module), name, None)
        if found is None:
            raise AttributeError(f"{self.key} is {text!r}, but {module} has no {name}")
        return found

    def text(self, value: Any) -> str | None:
        return value and f"{value.__module__}:{value.__qualname__}"


class env_paths:
    """A set of folders, each named by an environment variable of its own."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys

    def __get__(self, knobs: Any, owner: type | None = None) -> Any:
        return self if knobs is None else {path for key in self.keys if (path := os.environ.get(key))}


class NvidiaTool:
    """A program of NVIDIA's toolkit: its path and version."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def version(self) -> str:
        """As it prints it.

        :raises FileNotFoundError: it is not there."""
        import re
        import subprocess

        text = subprocess.check_output([self.path, "--version"]).decode()
        found = re.search(r".*release (\d+\.\d+).*", text)
        return found.group(1) if found else text.strip()

    @staticmethod
    def from_path(path: str) -> NvidiaTool:
        return NvidiaTool(path)


class env_nvidia_tool(env_base):
    """A program of NVIDIA's toolkit: TRITON_NAME_PATH, else the first on PATH. No compilation needs one."""

    def __init__(self, tool: str) -> None:
        super().__init__(f"TRITON_{tool.upper().replace('-', '_')}_PATH")
        self.tool = tool

    def get(self) -> NvidiaTool:
        import shutil

        return NvidiaTool(os.environ.get(self.key) or shutil.which(self.tool) or self.tool)

    def transform(self, value: Any) -> Any:
        return NvidiaTool(value) if isinstance(value, str) else value

    def text(self, value: Any) -> str | None:
        return value.path if isinstance(value, NvidiaTool) else value


class HookChain:
    """Functions that are called in the order in which they were added, or the other way round."""

    def __init__(self, reversed: bool = False, changed: Callable[[], Any] = lambda: None) -> None:
        self.calls: list[Callable[..., Any]] = []
        self.reversed, self.changed = reversed, changed

    def add(self, func: Callable[..., Any]) -> None:
        if func not in self.calls:
            self.calls.append(func)
        self.changed()

    def remove(self, func: Callable[..., Any]) -> None:
        if func in self.calls:
            self.calls.remove(func)
        self.changed()

    def __bool__(self) -> bool:
        return bool(self.calls)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in self.calls[::-1] if self.reversed else list(self.calls):
            call(*args, **kwargs)


class hook(_Switch):
    """A chain of functions; assigning a function makes it the only one, assigning None removes all."""

    def __init__(self, reversed: bool = False, of_launches: bool = False) -> None:
        self.reversed, self.of_launches = reversed, of_launches

    def _chain(self) -> HookChain:
        return HookChain(self.reversed, observe_launches if self.of_launches else lambda: None)

    def unassigned(self, knobs: Any) -> HookChain:
        return knobs.__dict__.setdefault(self.name, self._chain())  # type: ignore[no-any-return]

    def __set__(self, knobs: Any, value: Any) -> None:
        if not isinstance(value, HookChain):
            chain = self._chain()
            chain.calls = [] if value is None else [value]
            value = chain
        knobs.__dict__[self.name] = value
        value.changed()


def observe_launches() -> None:
    """Tells the native launcher whether there are functions around launches: without, no launch pays for them."""
    hooks = sys.modules[__name__].__dict__.get("runtime")
    _native.observe_launches(bool(hooks and (hooks.launch_enter_hook or hooks.launch_exit_hook)))


class base_knobs:
    """A group of switches."""

    @property
    def knob_descriptors(self) -> dict[str, env_base]:
        found: dict[str, env_base] = {}
        for kind in reversed(type(self).__mro__):
            found.update({name: value for name, value in vars(kind).items() if isinstance(value, env_base)})
        return found

    @property
    def knobs(self) -> dict[str, Any]:
        """{name: value} of all."""
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self) -> Any:
        """Another group with the same values, set apart from now on."""
        other = type(self)()
        other.__dict__.update({k: _copied(v) for k, v in self.__dict__.items()})
        return other

    def reset(self) -> Any:
        """All as the environment says."""
        for name in self.knob_descriptors:
            delattr(self, name)
        return self

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Within this, what is set stays inside."""
        values = {k: _copied(v) for k, v in self.__dict__.items()}
        variables = {d.key: os.environ.get(d.key) for d in self.knob_descriptors.values()}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(values)
            for key, text in variables.items():
                if text is None:
                    os.environ.pop(key, None)
                else:
                    os.environ[key] = text
            observe_launches()


def _copied(value: Any) -> Any:
    if not isinstance(value, HookChain):
        return value
    other = HookChain(value.reversed, value.changed)
    other.calls = list(value.calls)
    return other


def _under_home(folder: str) -> Callable[[], str]:
    return lambda: os.path.join(cache.home_dir, ".triton", folder)


class build_knobs(base_knobs):
    cc = env_opt_str("CC")
    cudacrt_path = env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = env_opt_str("TRITON_CUDART_PATH")
    impl = None
    backend_dirs = env_paths(("TRITON_CUDACRT_PATH", "TRITON_CUDART_PATH"))


class redis_knobs(base_knobs):
    key_format = env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = env_str("TRITON_REDIS_HOST", "localhost")
    port = env_int("TRITON_REDIS_PORT", 6379)


class cache_knobs(base_knobs):
    home_dir = env_str_callable_default("TRITON_HOME", lambda: os.path.expanduser("~/"))
    dump_dir = env_str_callable_default("TRITON_DUMP_DIR", _under_home("dump"))
    override_dir = env_str_callable_default("TRITON_OVERRIDE_DIR", _under_home("override"))
    dir = env_str_callable_default("TRITON_CACHE_DIR", _under_home("cache"))
    manager_class = env_class("TRITON_CACHE_MANAGER", "CacheManager")
    remote_manager_class = env_class("TRITON_REMOTE_CACHE_BACKEND", "RemoteCacheBackend")

    def get_triton_dir(self, dirname: str) -> str:
        return os.path.join(self.home_dir, ".triton", dirname)


class compilation_knobs(base_knobs):
    override = env_bool("TRITON_KERNEL_OVERRIDE")
    dump_ir = env_bool("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = env_bool("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = env_bool("TRITON_STORE_BINARY_ONLY")
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc = env_opt_str("USE_IR_LOC")
    enable_asan = env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = env_str("TRITON_INSTRUMENTATION_MODE", "")
    listener: Callable[..., Any] | None = None


class autotuning_knobs(base_knobs):
    cache = env_bool("TRITON_CACHE_AUTOTUNING")
    print = env_bool("TRITON_PRINT_AUTOTUNING")
    adam_timeout = env_int("TRITON_AUTOTUNING_TIMEOUT", 0)
    listener: Callable[..., Any] | None = None


class runtime_knobs(base_knobs):
    interpret = env_bool("TRITON_INTERPRET")
    debug = env_bool("TRITON_DEBUG")
    sanitize_overflow = env_bool("TRITON_SANITIZE_OVERFLOW", True)
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")

    launch_enter_hook = hook(of_launches=True)
    launch_exit_hook = hook(reversed=True, of_launches=True)
    kernel_load_start_hook = hook()
    kernel_load_end_hook = hook(reversed=True)
    kernel_unload_hook = hook(reversed=True)

    jit_cache_hook: Callable[..., Any] | None = None
    jit_post_compile_hook: Callable[..., Any] | None = None
    add_stages_inspection_hook: Callable[..., Any] | None = None


class language_knobs(base_knobs):
    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    cuobjdump = env_nvidia_tool("cuobjdump")
    nvdisasm = env_nvidia_tool("nvdisasm")
    ptxas = env_nvidia_tool("ptxas")
    ptxas_blackwell = env_nvidia_tool("ptxas-blackwell")
    dump_nvptx = env_bool("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = env_bool("DISABLE_PTXAS_OPT")
    ptxas_options = env_opt_str("PTXAS_OPTIONS")
    mock_ptx_version = env_opt_str("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = env_bool("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = env_opt_str("TRITON_LIBDEVICE_PATH")
    libcuda_path = env_opt_str("TRITON_LIBCUDA_PATH")


class amd_knobs(base_knobs):
    use_buffer_ops = env_bool("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = env_bool("AMDGCN_USE_BUFFER_ATOMICS", True)
    dump_amdgcn = env_bool("AMDGCN_ENABLE_DUMP")
    libhip_path = env_opt_str("TRITON_LIBHIP_PATH")
    use_block_pingpong = env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = env_opt_bool("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    use_async_copy = env_opt_bool("TRITON_HIP_USE_ASYNC_COPY")
    scalarize_packed_fops = env_bool("AMDGCN_SCALARIZE_PACKED_FOPS")


class proton_knobs(base_knobs):
    disable = env_bool("TRITON_PROTON_DISABLE")
    cupti_lib_dir = env_opt_str("TRITON_CUPTI_LIB_PATH")
    enable_nvtx = env_bool("TRITON_ENABLE_NVTX", True)


build = build_knobs()
redis = redis_knobs()
cache = cache_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
amd = amd_knobs()
proton = proton_knobs()


class CompileTimes:
    """Microseconds of a compilation's parts, as `compilation.listener` gets them."""

    def __init__(self, ir_initialization: int, lowering_stages: list[tuple[str, int]], store_results: int) -> None:
        self.ir_initialization, self.lowering_stages, self.store_results = ir_initialization, lowering_stages, store_results

    @property
    def total_lowering(self) -> int:
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


def refresh_knobs() -> None:
    """All switches as the environment says now."""
    for value in list(globals().values()):
        if isinstance(value, base_knobs):
            value.reset()
