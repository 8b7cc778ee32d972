"""@jit: a kernel from a Python function; kernel[grid](...) specialises, compiles once per specialisation, and launches."""
import functools
import inspect

from . import launch
from .language import types
from .language.tensor import constant_of, tensor
from .tracer import is_constexpr
from ..errors import error

# Options that schedule a GPU, or name a compiler's habits: accepted and without effect on a CPU.
OPTIONS = frozenset({
    "num_warps", "num_stages", "num_ctas", "num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer", "reg_inc_consumer", "maxnreg",
    "cluster_dims", "ptx_version", "ptx_options", "ir_override", "enable_fp_fusion", "enable_reflect_ftz", "launch_cooperative_grid",
    "launch_pdl", "supported_fp8_dtypes", "default_dot_input_precision", "allowed_dot_input_precisions", "max_num_imprecise_acc_default",
    "extern_libs", "sanitize_overflow", "arch", "instrumentation_mode", "backend_name", "waves_per_eu", "matrix_instr_nonkdim", "kpack",
    "device", "device_type", "stream", "num_cpu_threads", "generate_native_code",
})


class Parameter:
    """A kernel's parameter."""

    def __init__(self, index, parameter, unspecialised, unaligned):
        annotation = parameter.annotation
        self.index, self.name, self.default = index, parameter.name, parameter.default
        self.has_default = parameter.default is not inspect.Parameter.empty
        self.is_constexpr = is_constexpr(annotation)
        self.specialised = not unspecialised
        self.aligned = not (unaligned or unspecialised)
        text = annotation if isinstance(annotation, str) else annotation.name if isinstance(annotation, types.dtype) else ""
        self.float_type = {"fp16": "float16", "bf16": "bfloat16", "fp64": "float64", "float64": "float64", "float16": "float16",
                           "bfloat16": "bfloat16"}.get(text.replace("tl.", ""), "float32")
        self.is_const = annotation is types.const or text.replace("tl.", "") == "const"


class KernelInterface:
    def __getitem__(self, grid):
        """kernel[grid]: the kernel with a launch grid, to be called with the arguments."""
        return functools.partial(self.run, grid=grid)


class JITFunction(KernelInterface):
    """A function that is compiled when it is launched, and traced inline when a kernel calls it."""

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None, noinline=None,
                 repr=None, launch_metadata=None):
        if not inspect.isfunction(fn):
            raise error(TypeError, f"@jit takes a function, got {type(fn).__name__}")
        self.fn, self.debug = fn, bool(debug)
        unspecialised, unaligned = do_not_specialize or (), do_not_specialize_on_alignment or ()
        self.params = []
        for index, p in enumerate(inspect.signature(fn).parameters.values()):
            named = index in unspecialised or p.name in unspecialised
            parameter = Parameter(index, p, named, index in unaligned or p.name in unaligned)
            if parameter.is_constexpr and named:
                raise error(ValueError, f"{p.name} marked as constexpr and listed in do_not_specialize",
                            hint="constexpr parameters are always specialised")
            self.params.append(parameter)
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.index for p in self.params if p.is_constexpr]
        self.kernels = {}  # specialisation -> launch.Kernel
        self.pre_run_hooks = []
        functools.update_wrapper(self, fn)

    @property
    def src(self):
        return inspect.getsource(self.fn)

    def __repr__(self):
        return f"JITFunction({self.fn.__module__}:{self.fn.__qualname__})"

    def __call__(self, *args, **kwargs):
        raise error(RuntimeError, f"`{self.fn.__name__}` is a kernel: give it a grid", hint=f"launch it with {self.fn.__name__}[grid](...)")

    def add_pre_run_hook(self, hook):
        """Calls hook(*args, **kwargs) before each launch."""
        self.pre_run_hooks.append(hook)

    def __tile_trace__(self, tracer, args, kwargs):
        """A call from a kernel: traced inline; what is annotated constexpr must be known."""
        args = list(args)
        for p, value in zip(self.params, args):
            if p.is_constexpr:
                args[p.index] = constant_of(value, f"argument `{p.name}` of `{self.fn.__name__}`, annotated tl.constexpr,")
        for p in self.params:
            if p.is_constexpr and isinstance(kwargs.get(p.name), tensor):
                kwargs[p.name] = constant_of(kwargs[p.name], f"argument `{p.name}` of `{self.fn.__name__}`, annotated tl.constexpr,")
        return tracer.inline(self.fn, args, kwargs)

    def bind(self, args, kwargs):
        """The values of all parameters in order, and the options."""
        if len(args) > len(self.params):
            raise error(TypeError, f"kernel `{self.fn.__name__}` takes {len(self.params)} arguments, got {len(args)}")
        if len(args) == len(self.params) and not kwargs:
            return list(args), {}
        values = list(args)
        kwargs = dict(kwargs)
        for p in self.params[:len(args)]:
            if p.name in kwargs:
                raise error(TypeError, f"kernel `{self.fn.__name__}` got two values for argument `{p.name}`")
        for p in self.params[len(args):]:
            if p.name in kwargs:
                values.append(kwargs.pop(p.name))
            elif p.has_default:
                values.append(p.default)
            else:
                raise error(TypeError, f"kernel `{self.fn.__name__}` needs a value for argument `{p.name}`")
        for name in kwargs:
            if name not in OPTIONS and name != "debug":
                raise error(KeyError, f"Keyword argument {name} was specified but unrecognised",
                            hint=f"the parameters of `{self.fn.__name__}` are " + ", ".join(self.arg_names))
        return values, kwargs

    def run(self, *args, grid=None, warmup=False, **kwargs):
        """kernel[grid](*args, **kwargs)."""
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        values, options = self.bind(args, kwargs)
        kernel, slots = launch.specialise(self, values, bool(options.get("debug", self.debug)))
        if not warmup:
            kernel.run(launch.extents(self, grid, values), slots)
        return kernel

    def warmup(self, *args, grid=(1,), **kwargs):
        """Compiles for these arguments (dtypes stand for tensors) without a launch."""
        return self.run(*args, grid=grid, warmup=True, **kwargs)


def jit(fn=None, **options):
    """Decorator: makes a function a kernel (launched with kernel[grid](...)) or a helper of kernels (called by them)."""
    if fn is None:
        return lambda f: jit(f, **options)
    return fn if isinstance(fn, JITFunction) else JITFunction(fn, **options)


class ConstexprFunction:
    """A host function that kernels call with compile-time values."""

    def __init__(self, fn):
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __call__(self, *args, **kwargs):
        return self.fn(*(types.unwrap(a) for a in args), **{k: types.unwrap(v) for k, v in kwargs.items()})

    def __tile_trace__(self, tracer, args, kwargs):
        what = f"an argument of constexpr function `{self.fn.__name__}`"
        return self(*(constant_of(a, what) for a in args), **{k: constant_of(v, what) for k, v in kwargs.items()})


def constexpr_function(fn):
    """Decorator: a function that runs at compile time."""
    return ConstexprFunction(fn)


@constexpr_function
def cdiv(x, y):
    """x / y rounded up."""
    return -(-x // y)


@constexpr_function
def next_power_of_2(n):
    """The smallest power of two that is at least n."""
    return 1 << max(n - 1, 0).bit_length() if n > 0 else 0
