"""From a specialisation to a compiled kernel: what the native launcher calls when it meets arguments of a new kind."""

from tilery import _native

from ..core import cache
from ..core import debug as oracle
from ..core.tile.tracer import default_precision, trace
from ..errors import error
from ..frontend.fingerprint import watched

# Options of a launch that targets may heed: hints of the kernel.
_HINTS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims", "launch_cooperative_grid", "launch_pdl")


class CompiledKernel:
    """What a launch returns: the kernel for one specialisation, with its stages as text."""

    def __init__(self, name, build, device, disjoint):
        self.name, self.device, self.disjoint = name, device, disjoint
        self._build, self._traced = build, None
        self._texts = None

    def _trace(self):
        """(module, what it read from outside): made on demand, since code from the disk cache needs no trace."""
        self._traced = self._traced or self._build()
        return self._traced

    @property
    def module(self):
        return self._trace()[0]

    @property
    def reads(self):
        return self._trace()[1]

    @property
    def asm(self):
        """{"tile": IR before the passes, "passes": after them, "llvm", "asm"}."""
        if self._texts is None:
            self._texts = cache.stages(self.module, self.device, self.disjoint)
        return self._texts


def plan(kernel, signature, arguments):
    """The native plan for a specialisation: traced, compiled, loaded."""
    debug = bool(arguments.get("debug") or kernel.debug)
    parameters, slots = [], []
    for position, (parameter, known) in enumerate(zip(kernel.params, signature.params)):
        if known[0] == "const":
            parameters.append((parameter.name, None, 1, known[1]))
            continue
        slots.append(position)
        parameters.append((parameter.name, *_argument(parameter, known), None))
    name = kernel.fn.__name__
    kernel.watch(watched(kernel.fn))
    disjoint = not signature.aliases
    hints = {option: arguments.get(option) for option in _HINTS if option not in kernel.arg_names}
    result = CompiledKernel(name, lambda: trace(kernel.fn, name, parameters, debug, hints), signature.device, disjoint)
    if oracle.wanted(debug):
        types = [(n, t.dtype, t.pointer) for n, t, _, _ in parameters if t is not None]
        return oracle.plan(oracle.OracleLaunch(result.module, name, types, debug, result), signature.device)
    annotations = [(p.name, p.float_type, p.is_const) for p in kernel.params]
    specialisation = ["tileon", signature.params, annotations, debug, default_precision(kernel.fn), hints]
    fuses = arguments.get("enable_fp_fusion") is not False or "enable_fp_fusion" in kernel.arg_names
    options = {"disjoint": disjoint, "device": signature.device} | ({} if fuses else {"fp_contract": False})
    image = cache.image(kernel.fn, specialisation, lambda: result.module, **options)
    return _native.KernelPlan(_native.load(image)[0], slots, result)


def _argument(parameter, known):
    """(type, divisibility) of a run-time argument."""
    kind = known[0]
    if kind == "pointer":
        return _native.Type(known[1], (), True, parameter.is_const), known[2]
    if kind == "int":
        return _native.Type(known[1]), known[2]
    if kind == "float":
        return _native.Type(parameter.float_type), 1
    if kind == "bool":
        return _native.Type("bool"), 1
    raise error(TypeError, f"argument `{parameter.name}` must be a tensor or a number")
