"""A recorded launch in other ways: with other tiles, fewer elements, other types, rows further apart.

Nothing here knows what a kernel means. Numbers that are equal to a size (or a stride) of a tensor are taken for it and change
with it; where that makes no sense of the kernel, the interpreter refuses the launch, or both ways of running it do the same."""

import inspect
from collections import defaultdict

import torch

OTHER_TYPES = {
    torch.float32: torch.bfloat16,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float16,
    torch.float64: torch.float32,
    torch.int64: torch.int32,
    torch.int32: torch.int64,
}


def names(launcher, args):
    """The parameters' names, as far as they are known."""
    function = getattr(launcher, "fn", None) or getattr(launcher, "application", None)
    try:
        known = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        known = []
    return [*known[: len(args)], *[""] * (len(args) - len(known))]


def is_number(value):
    return type(value) is int


def tensors(values):
    return [value for value in values if isinstance(value, torch.Tensor)]


def replaced(launcher, args, named, change):
    """The arguments with change(name, value) in their places."""
    given = [change(name, value) for name, value in zip(names(launcher, args), args)]
    return given, {name: change(name, value) for name, value in named.items()}


def is_tile(name, value):
    return is_number(value) and value >= 2 and value & (value - 1) == 0 and name.isupper() and name not in ("D", "DIM")


def smaller_tiles(launcher, args, named):
    return list(args), {name: value // 2 if is_tile(name, value) else value for name, value in named.items()}


def larger_tiles(launcher, args, named):
    return list(args), {name: value * 2 if is_tile(name, value) else value for name, value in named.items()}


def ragged(launcher, args, named):
    """Every size from 3 on is one less: in the numbers; where there are none, in the tensors, whose memory stays as it was."""
    sizes = {size for tensor in tensors([*args, *named.values()]) for size in tensor.shape if size > 2}

    def less(name, value):
        if not is_number(value) or value not in sizes or is_tile(name, value):
            return value
        return value if "stride" in name.lower() or name.startswith("num_") else value - 1

    def narrowed(name, value):
        if not isinstance(value, torch.Tensor):
            return value
        return value[tuple(slice(0, size - 1 if size > 2 else size) for size in value.shape)]

    given = replaced(launcher, args, named, less)
    return given if changed((args, named), given) else replaced(launcher, args, named, narrowed)


def types(launcher, args, named):
    """Every type is another one of its kind."""
    converted = {}

    def change(name, value):
        if not isinstance(value, torch.Tensor) or value.dtype not in OTHER_TYPES:
            return value
        key, dtype = (value.untyped_storage().data_ptr(), value.dtype), OTHER_TYPES[value.dtype]
        if key not in converted:
            whole = torch.empty(0, dtype=value.dtype, device=value.device).set_(value.untyped_storage())
            converted[key] = whole.to(dtype)
        return converted[key].as_strided(value.shape, value.stride(), value.storage_offset())

    return replaced(launcher, args, named, change)


def apart(launcher, args, named):
    """Rows lie further apart: the innermost dimension of every tensor with two or more has three elements behind it."""
    moved, strides, sizes = {}, defaultdict(set), set()
    for tensor in tensors([*args, *named.values()]):
        sizes.update(tensor.shape)
        if tensor.dim() < 2 or not tensor.is_contiguous() or tensor.numel() == 0:
            strides.update({step: strides[step] | {step} for step in tensor.stride()})
            continue
        if id(tensor) not in moved:
            room = tensor.new_zeros((*tensor.shape[:-1], tensor.shape[-1] + 3))
            moved[id(tensor)] = room[..., :-3].copy_(tensor) if tensor.dtype != torch.bool else room[..., :-3].logical_or_(tensor)
        for old, new in zip(tensor.stride(), moved[id(tensor)].stride()):
            strides[old].add(new)

    def change(name, value):
        if isinstance(value, torch.Tensor):
            return moved.get(id(value), value)
        known = is_number(value) and not is_tile(name, value) and len(strides.get(value, ())) == 1
        fits = known and ("stride" in name.lower() or value not in sizes)
        return next(iter(strides[value])) if fits else value

    return replaced(launcher, args, named, change)


ALL = {f.__name__: f for f in (smaller_tiles, larger_tiles, ragged, types, apart)}


def changed(before, after):
    """Is any argument another one?"""
    pairs = zip([*before[0], *before[1].values()], [*after[0], *after[1].values()])
    return any(a is not b and not (is_number(a) and a == b) for a, b in pairs)


def of(launcher, args, named, wanted):
    """(what, arguments, named ones): the launch as it is, and those of the wanted variants that differ from it."""
    yield "as it is", list(args), named
    for what in wanted:
        given = ALL[what](launcher, args, named)
        if changed((args, named), given):
            yield what, *given
