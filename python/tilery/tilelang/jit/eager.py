"""Eager functions: @tilelang.jit on a function that is the kernel itself. Tensor parameters are declared in its body, `T.const`
names sizes that each call's tensors give and that are compile-time numbers for it."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.arrays import layout
from ...core.unmade import compile_time, launches_are_unmade
from ...errors import Error, error, with_article
from ...frontend.source import tree_of
from ...frontend.wording import counted, did_you_mean
from ..language.eager.builder import PrimFunc
from ..language.eager.survey import Declared, Survey, is_number_of_numpy, is_tensor
from ..language.eager.survey import survey as take_survey
from ..tracing.dtypes import dtype
from ..tracing.shapes import TensorType, row_major
from ..tracing.values import Var, substitute
from .kernel import JITKernel
from .options import Options


def freeze(function: str, name: str, value: Any) -> tuple[type, Any]:
    if isinstance(value, list):
        value = tuple(freeze(function, name, v) for v in value)
    elif isinstance(value, dict):
        value = tuple((k, freeze(function, name, v)) for k, v in value.items())
    try:
        hash(value)
        known = not hasattr(value, "__dlpack__")  # the same tensor may hold another number next time
    except TypeError:
        known = False
    if not known:
        raise error(
            TypeError,
            f"argument `{name}` of `{function}` is {with_article(type(value).__name__)}, which cannot be a compile-time argument",
            hint="pass numbers, strings, types or tuples of them; tensors go to the kernel it returns",
        )
    return type(value), value


def is_eager(function: Any) -> bool:
    """Is the function the kernel itself, instead of defining a prim_func? It declares its tensors (`A: T.Tensor(...)` in the
    signature or the body) or opens a T.Kernel."""
    try:
        definition = tree_of(function)
    except Exception:  # no source: it can only return a prim_func made elsewhere
        return False
    inner = [node for node in ast.walk(definition) if isinstance(node, ast.FunctionDef) and node is not definition]
    decorators = {ast.unparse(d).partition("(")[0].rpartition(".")[2] for node in inner for d in node.decorator_list}
    if "prim_func" in decorators:
        return False
    parameters = set(inspect.signature(function).parameters)
    alone = [node for node in definition.body if isinstance(node, ast.AnnAssign) and node.value is None]
    tensors = [kind for kind in _declared(function).values() if isinstance(kind, TensorType)]
    if any(getattr(node.target, "id", None) in parameters for node in alone) or tensors:
        return True
    return any(_opens_kernel(node) for node in definition.body)


def _opens_kernel(node: ast.AST) -> bool:
    if isinstance(node, ast.With):
        calls = [item.context_expr.func for item in node.items if isinstance(item.context_expr, ast.Call)]
        if any(_last_name(function) == "Kernel" for function in calls):
            return True
    return not isinstance(node, ast.FunctionDef) and any(map(_opens_kernel, ast.iter_child_nodes(node)))


def _last_name(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def _declared(function: Callable[..., Any]) -> dict[str, Any]:
    """{parameter: TensorType, or element type of a scalar} of the signature's annotations."""
    declared: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind = parameter.annotation
        if (
            isinstance(kind, str) and not isinstance(kind, dtype) and kind.startswith(("T.", "tilelang."))
        ):  # from __future__ import annotations
            try:
                kind = eval(kind, function.__globals__, inspect.getclosurevars(function).nonlocals)
            except NameError:  # names of the body
                continue
        if isinstance(kind, (TensorType, dtype)):
            declared[name] = kind
    return declared


class Specialised(Declared, PrimFunc):
    """An eager function with its constants known; it is its own `eager` side of the second trace."""

    def __init__(
        self,
        function: Callable[..., Any],
        params: list[tuple[str, Any]],
        arguments: dict[str, Any],
        constants: dict[str, Any],
        dynamics: list[Any],
    ) -> None:
        self.function, self.__name__, self.__doc__ = function, function.__name__, function.__doc__
        super().__init__(dynamics, constants)
        self.params, self.arguments = params, arguments
        self.compile_time = (sorted(arguments.items()), sorted(constants.items()))
        self.eager = self

    def bind(self, values: Sequence[Any]) -> tuple[tuple[()], dict[str, Any]]:
        self.bound = {name: value for (name, _), value in zip(self.params, values)}
        return (), {**self.arguments, **self.bound}


class EagerFunction:
    """Surveys once for each set of compile-time arguments; compiles once for each set of constants."""

    def __init__(self, function: Callable[..., Any], out_idx: Any, options: Callable[[], Options]) -> None:
        if out_idx is not None:
            name = function.__name__
            raise error(ValueError, f"`{name}` is an eager kernel: out_idx is for prim_funcs", hint="return what T.empty made")
        self.function, self.options = function, options
        self.signature = inspect.signature(function)
        self.declared = _declared(function)
        self.surveys: dict[Any, Survey] = {}
        self.kernels: dict[Any, JITKernel] = {}

    def __call__(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Runs the kernel for these arguments. `debug` is that of kernels, unless the function has a parameter of the name."""
        if "debug" not in kwargs or "debug" in self.signature.parameters:
            kernel, tensors = self.compile(args, kwargs)
            return kernel(*tensors)
        kernel, tensors = self.compile(args, {name: value for name, value in kwargs.items() if name != "debug"})
        return kernel(*tensors, debug=kwargs["debug"])

    def compile(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[JITKernel, list[Any]]:
        """(the kernel for these arguments, its tensors in order). Constants may also be given by name."""
        key, make, given = self._chosen(args, kwargs)
        if key not in self.kernels:
            self.kernels[key] = JITKernel(make(), None, self.options())
        return self.kernels[key], given

    def prim_func(self, args: Sequence[Any], kwargs: dict[str, Any]) -> PrimFunc:
        """The function for these arguments; types of tensors stand for tensors."""
        return self._chosen(args, kwargs)[1]()

    def _chosen(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Any, Callable[[], Specialised], list[Any]]:
        """(what tells kernels apart, makes the function for these arguments, its tensors in order)."""
        own = {name: value for name, value in kwargs.items() if name in self.signature.parameters}
        try:
            bound = self.signature.bind_partial(*args, **own)
        except TypeError as wrong:
            names = ", ".join(self.signature.parameters)
            raise error(TypeError, f"{self.function.__name__}(): {wrong}", hint=f"its parameters: {names}") from None
        bound.apply_defaults()
        values = {name: value.item() if is_number_of_numpy(value) else value for name, value in bound.arguments.items()}
        if launches_are_unmade():
            values = {name: compile_time(value) for name, value in values.items()}
        scalars = {name for name, kind in self.declared.items() if isinstance(kind, dtype)}
        plain = {name: value for name, value in values.items() if not is_tensor(value) and name not in scalars}
        key = tuple((name, freeze(self.function.__name__, name, value)) for name, value in plain.items())
        survey = self.surveys.get(key)
        if survey is None:
            survey = self.surveys[key] = take_survey(self.function, values, self.declared)
        given = {name: value for name, value in kwargs.items() if name not in own}
        try:
            constants = self._constants(survey, values, given)
        except (AttributeError, Error):
            self._check_arguments(survey, values)  # which may know better what is wrong
            raise
        key += tuple(sorted(constants.items()))
        own = {name: value for name, value in plain.items() if name not in survey.tensors}
        given_tensors = [values[name] for name in survey.tensors if name in values]

        def make() -> Specialised:
            self._check_arguments(survey, values)
            return self._specialise(survey, own, constants)

        return key, make, given_tensors

    def _check_arguments(self, survey: Survey, values: Mapping[str, Any]) -> None:
        """Refuses what cannot be a tensor where one is declared, tensors that nothing declares, missing arguments."""
        name = self.function.__name__
        for argument in self.signature.parameters.values():
            given = argument.name in values or argument.name in survey.tensors
            if not given and argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
                raise error(
                    TypeError,
                    f"`{name}` is missing the argument `{argument.name}`",
                    hint=f"its parameters: {', '.join(self.signature.parameters)}",
                )
        for parameter, kind in survey.tensors.items():
            if not isinstance(kind, TensorType) or parameter not in values or values[parameter] is None:
                continue
            value = values[parameter]
            if not is_tensor(value):
                got = with_article(type(value).__name__)
                hint = f"pass torch.tensor({parameter}) or a NumPy array"
                raise error(TypeError, f"`{name}.{parameter}` is a tensor of {kind.dtype}, got {got}", hint=hint)
            if len(value.shape) != len(kind.shape):
                raise error(
                    ValueError,
                    f"{name}.{parameter}.ndim is expected to equal {len(kind.shape)}, but got mismatched ndim",
                    hint=f"it has {counted(len(value.shape), 'dimension')}",
                )
        for parameter, value in values.items():
            if is_tensor(value) and parameter not in survey.tensors:
                raise error(
                    TypeError,
                    f"`{name}` is given a tensor for `{parameter}`, which nothing declares as one",
                    hint=f"write `{parameter}: T.Tensor[[M, N], T.float16]` in its body, before T.Kernel",
                )

    def _constants(self, survey: Survey, values: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """The value of each constant, from the tensors or by name."""
        constants: dict[str, Any] = {}
        places: dict[str, tuple[str, int]] = {}  # the first dimension that each is
        for name, kind in survey.tensors.items():
            if values.get(name) is None or isinstance(kind, dtype):
                continue
            shape, strides = _layout(values[name])
            if not isinstance(values[name], TensorType):
                shape, strides = _elements(kind, shape, strides)
            if len(shape) != len(kind.shape):
                continue  # the kernel's own check says what is wrong
            for i, (size, actual) in enumerate(zip((*kind.shape, *(kind.strides or ())), (*shape, *strides))):
                if not isinstance(size, Var) or survey.constants.get(size.name) is not size:
                    continue
                known = constants.setdefault(size.name, int(actual))
                if i < len(shape) and size.name not in given and known != int(actual):
                    other, dim = places.get(size.name, (None, 0))
                    raise error(
                        ValueError,
                        f"Argument {self.function.__name__}.{name}.shape[{i}] has an unsatisfied constraint: {int(actual)} == "
                        f"{known} (given, declared)",
                        hint=f"`{size.name}` is {known} by {other}.shape[{dim}]" if other else None,
                    )
                if i < len(shape):
                    places.setdefault(size.name, (name, i))
        for name, value in given.items():
            if name not in survey.constants:
                named = [*self.signature.parameters, *survey.constants]
                raise error(
                    TypeError,
                    f"`{self.function.__name__}` has no argument or constant `{name}`",
                    hint=did_you_mean(name, named) or f"it takes {', '.join(named)}",
                )
            constants[name] = value
        for name in survey.constants:
            if name not in constants:
                missing = [p for p, kind in survey.tensors.items() if values.get(p) is None and isinstance(kind, TensorType)]
                if missing:
                    raise error(
                        TypeError,
                        f"`{self.function.__name__}` is missing the tensor `{missing[0]}`",
                        hint=f"its parameters: {', '.join(self.signature.parameters)}; constants may be given by name instead: "
                        + ", ".join(constant for constant in survey.constants if constant not in constants),
                    )
                raise error(
                    RuntimeError,
                    f"constant `{name}` of `{self.function.__name__}` is no dimension of a tensor",
                    hint="each name of T.const must be a shape or stride of a tensor parameter, or be given by keyword",
                )
        return constants

    def _specialise(self, survey: Survey, plain: dict[str, Any], constants: dict[str, Any]) -> Specialised:
        sizes = {survey.constants[name].uid: value for name, value in constants.items()}

        def known(item: Any) -> Any:
            return substitute(item, sizes)

        params: list[tuple[str, Any]] = []
        for name, kind in survey.tensors.items():
            if isinstance(kind, dtype):
                params.append((name, kind))
                continue
            strides = kind.strides and tuple(map(known, kind.strides))
            params.append((name, TensorType(tuple(map(known, kind.shape)), kind.dtype, strides)))
        return Specialised(self.function, params, plain, constants, list(survey.dynamics))


def _layout(value: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """(extents, strides) of a tensor, or of the type of one."""
    return (value.shape, value.strides or row_major(value.shape)) if isinstance(value, TensorType) else layout(value)


def _elements(kind: TensorType, shape: Sequence[Any], strides: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """A tensor's extents and strides in elements, where two of them lie in a byte."""
    if kind.dtype.pack == 1 or not shape:
        return shape, strides
    return (*shape[:-1], shape[-1] * 2), (*(2 * stride for stride in strides[:-1]), strides[-1])
