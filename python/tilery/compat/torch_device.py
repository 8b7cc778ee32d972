"""Makes the device "cuda" of torch's own functions mean the CPU, for every thread.

A torch function mode would do for one thread only and costs a Python call for each operator; so the functions that take a
device are wrapped where programs find them. `torch.device` and `torch.Generator` keep their identity (torch keys tables by
it): their constructor slot is replaced. What devices and tensors say of themselves is in torch_places.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .told import say
from .torch_generators import Offsets
from .torch_places import Places, caller_is_torch
from .torch_streams import Event, Stream

Function = Callable[..., Any]
_CUDA = re.compile(r"cuda(:\d+)?\Z")
# Methods of tensors that are changed, by their kind.
_CHANGED = ("to", "cpu", "cuda", "type", "pin_memory", "new_tensor")
_NEW = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros")
_IMMUTABLE = 1 << 8
_NEW_SLOT, _FLAGS_SLOT = 312, 168  # byte offsets in PyTypeObject, unchanged since CPython 3.8


def apply(torch: Any) -> None:
    """Changes torch, once, right after it was imported."""
    # Cached by torch: `with torch.device(..)` recognises the functions below by identity.
    importlib.import_module("torch.utils._device")._device_constructors()
    host = torch.device("cpu")
    places = Places(torch, host)

    def cpu(device: Any) -> Any:
        if isinstance(device, str):
            if not _CUDA.match(device):
                return device
            say()
            return "cpu"
        if isinstance(device, int) and not isinstance(device, bool) or isinstance(device, torch.device) and device.type == "cuda":
            say()
            return host
        return device

    def new_device(construct: Function, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        kind = args[0] if args else kwargs.get("type", kwargs.get("device"))
        if kind == "cpu" and len(args) + len(kwargs) == 1:
            return host
        return construct(cls, *((("cpu",), {}) if cpu(kind) is not kind else (args, kwargs)))

    def new_generator(construct: Function, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        device = args[0] if args else kwargs.get("device")
        generator = construct(cls, tuple(map(cpu, args)), {key: cpu(kwargs[key]) for key in kwargs})
        if cpu(device) is not device:
            offsets.add(generator)
        return generator

    def new_queued(ours: type) -> Function:
        """torch.Stream("cuda"), torch.Event("cuda"): as torch.cuda's."""

        def new(construct: Function, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            device = args[0] if args else kwargs.get("device")
            if isinstance(device, torch.device) and device.type == "cpu":
                asked = device is not host
            else:
                asked = cpu(device) is not device
            return ours(*args, **kwargs) if asked and cls.__module__ == "torch" else construct(cls, args, kwargs)

        return new

    offsets = Offsets(torch)
    _replace_new(torch.device, new_device)
    _replace_new(torch.Stream, new_queued(Stream))
    _replace_new(torch.Event, new_queued(Event))
    _replace_new(torch.Generator, new_generator)
    with mutable(torch.Generator):
        offsets.change(torch.Generator)
    with mutable(torch.device):
        places.change_device(torch.device)

    def takes_device(function: Function, like_first: bool = False) -> Function:
        """`like_first`: without a device the result lies where the first argument does."""

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if kwargs.get("pin_memory"):
                kwargs["pin_memory"] = False
            if "device" not in kwargs:
                result = function(*args, **kwargs)
                if like_first and args and not caller_is_torch(sys._getframe(1)):
                    places.beside(args[0], result)
                return result
            device = kwargs["device"]
            kwargs["device"] = cpu(device)
            result = function(*args, **kwargs)
            if places.is_host(device):
                places.mark(result)
            return result

        return wrapped

    for name in _with_device(torch, dir(torch._C._VariableFunctions)):
        setattr(torch, name, takes_device(getattr(torch, name), name.endswith("_like")))
    torch.asarray = takes_device(torch.asarray)
    for name in ("fftfreq", "rfftfreq"):
        setattr(torch.fft, name, takes_device(getattr(torch.fft, name)))
    for name in ("nested_tensor", "as_nested_tensor"):
        setattr(torch.nested, name, takes_device(getattr(torch.nested, name)))
    _change_tensor(torch, cpu, takes_device, places)
    places.change_tensor(torch.Tensor)
    _change_mixed_precision(torch, cpu)
    _change_optimizers()

    load = torch.load

    @functools.wraps(load)
    def load_to_cpu(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        return load(f, "cpu" if map_location is None else cpu(map_location), *args, **kwargs)

    torch.load = load_to_cpu


def allow_in_graphs(dynamo: Any) -> None:
    """torch.compile puts calls of the changed methods into its graphs as they are, and does not look into them."""
    Tensor = sys.modules["torch"].Tensor
    for name in (*_CHANGED, *_NEW):
        dynamo.allow_in_graph(getattr(Tensor, name))


def _with_device(torch: Any, names: Iterable[str]) -> Iterator[str]:
    """The functions whose operator schema has a `device`."""
    for name in names:
        if name.startswith("_") or not hasattr(torch, name):
            continue
        schemas = torch._C._jit_get_schemas_for_operator("aten::" + name)
        if any(argument.name == "device" for schema in schemas for argument in schema.arguments):
            yield name


def _change_tensor(torch: Any, cpu: Function, takes_device: Function, places: Places) -> None:
    Tensor = torch.Tensor
    to, to_cpu, new_tensor, kind = Tensor.to, Tensor.cpu, Tensor.new_tensor, Tensor.type

    @functools.wraps(to)
    def to_device(self: Any, *args: Any, **kwargs: Any) -> Any:
        device = args[0] if args else kwargs.get("device")
        if args:
            args = (cpu(device), *args[1:])
        elif device is not None:
            kwargs["device"] = cpu(device)
        result = to(self, *args, **kwargs)
        if caller_is_torch(sys._getframe(1)):
            return result
        if places.is_host(device):
            return places.brought_to_host(self, result)
        return places.brought_to_gpu(self, result) if cpu(device) is not device else result

    def to_host(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = to_cpu(self, *args, **kwargs)
        return result if caller_is_torch(sys._getframe(1)) else places.brought_to_host(self, result)

    def to_cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        say()
        return self if caller_is_torch(sys._getframe(1)) else places.brought_to_gpu(self, self)

    def cpu_type(self: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(dtype, str):
            dtype = dtype.replace("torch.cuda.", "torch.")
        return kind(self, dtype, *args, **kwargs) if dtype is not None else kind(self)

    Tensor.to = to_device
    Tensor.cpu = functools.wraps(to_cpu)(to_host)
    Tensor.cuda = functools.wraps(Tensor.cuda)(to_cuda)
    Tensor.type = functools.wraps(kind)(cpu_type)
    Tensor.pin_memory = functools.wraps(Tensor.pin_memory)(lambda self, device=None: self)
    Tensor.record_stream = functools.wraps(Tensor.record_stream)(lambda self, stream: None)
    Tensor.new_tensor = takes_device(new_tensor, True)
    for name in _NEW:
        setattr(Tensor, name, takes_device(getattr(Tensor, name), True))


def _change_mixed_precision(torch: Any, cpu: Function) -> None:
    autocast, scaler = torch.amp.autocast_mode.autocast, torch.amp.GradScaler
    enter, scale = autocast.__init__, scaler.__init__

    @functools.wraps(enter)
    def autocast_init(self: Any, device_type: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        if cpu(device_type) is not device_type:
            device_type, dtype = "cpu", dtype or torch.float16  # CUDA's default; the CPU's is bfloat16
        enter(self, device_type, dtype, *args, **kwargs)

    @functools.wraps(scale)
    def scaler_init(self: Any, device: Any = "cuda", *args: Any, **kwargs: Any) -> None:
        scale(self, cpu(device), *args, **kwargs)

    autocast.__init__, scaler.__init__ = autocast_init, scaler_init

    enabled, dtype_of, gpu_dtype = torch.is_autocast_enabled, torch.get_autocast_dtype, torch.get_autocast_gpu_dtype

    def program_asks(frame: Any) -> bool:
        """Also where torch.compile asks for what it compiles."""
        return not caller_is_torch(frame) or frame.f_globals["__name__"].startswith("torch._dynamo.variables.")

    @functools.wraps(enabled)
    def is_enabled(device_type: Any = "cuda") -> Any:
        return enabled(cpu(device_type) if program_asks(sys._getframe(1)) else device_type)

    # Where there is no autocast, CUDA's own type.
    @functools.wraps(dtype_of)
    def get_dtype(device_type: Any) -> Any:
        return dtype_of(cpu(device_type) if enabled("cpu") and program_asks(sys._getframe(1)) else device_type)

    @functools.wraps(gpu_dtype)
    def get_gpu_dtype() -> Any:
        return dtype_of("cpu" if enabled("cpu") else "cuda")

    torch.is_autocast_enabled, torch.get_autocast_dtype, torch.get_autocast_gpu_dtype = is_enabled, get_dtype, get_gpu_dtype
    for changed in (is_enabled, get_dtype, get_gpu_dtype):  # torch.compile calls them and does not look into them
        vars(changed)["_dynamo_marked_constant"] = True
    for name in ("custom_fwd", "custom_bwd"):
        custom = getattr(torch.amp, name)

        def on_cpu(*args: Any, _custom: Function = custom, **kwargs: Any) -> Any:
            return _custom(*args, **{k: cpu(v) if k == "device_type" else v for k, v in kwargs.items()})

        wrapped = functools.wraps(custom)(on_cpu)
        setattr(torch.amp, name, wrapped)
        setattr(torch.amp.autocast_mode, name, wrapped)


def _change_optimizers() -> None:
    """capturable=True: what optimizers say of CUDA holds for the CPU."""
    name = "_get_capturable_supported_devices"
    devices = getattr(sys.modules.get("torch.optim.optimizer"), name, None)
    if devices is None:
        return

    @functools.wraps(devices)
    def with_cpu(*args: Any, **kwargs: Any) -> Any:
        return [*devices(*args, **kwargs), "cpu"]

    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("torch.optim.") and vars(module).get(name) is devices:
            setattr(module, name, with_cpu)


@contextlib.contextmanager
def mutable(cls: type) -> Iterator[None]:
    """A static C type refuses attributes; within this it takes them."""
    flags = ctypes.c_ulong.from_address(id(cls) + _FLAGS_SLOT)
    if flags.value != cls.__flags__:
        raise RuntimeError(f"tilery: cannot apply the device rule to {cls.__name__}: unknown layout of type objects")
    flags.value &= ~_IMMUTABLE
    try:
        yield
    finally:
        flags.value |= _IMMUTABLE


def _replace_new(cls: type, new: Function) -> None:
    """`cls(*args, **kwargs)` becomes `new(construct, cls, args, kwargs)`, with the constructor that it had."""
    with mutable(cls):
        slot = ctypes.c_void_p.from_address(id(cls) + _NEW_SLOT).value or 0
        construct = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.py_object)(slot)

        def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
            return new(construct, cls, args, kwargs)

        setattr(cls, "__new__", staticmethod(__new__))
