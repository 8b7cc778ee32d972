"""Device functions that unpack words of small numbers whose fields lie in the order of `interleave_weight`, by name: what kernels
call with T.call_extern. On GPUs of old such orders cost one instruction for two fields; here they are an order like any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import error
from ..tracing.values import binary, cast
from .quantization import _fp4

_TARGETS = {"float16": "f16", "int8": "i8s"}
_FIELD_BITS = (1, 2, 4)


def unit(bits: int, target: str) -> int:
    """How many numbers lie among themselves in the order of a target: float16 or int8."""
    return 16 if target == "int8" and bits < 4 else 8


def place(bits: int, target: str, number: int) -> int:
    """Where, in bits, the field of a number of a unit begins."""
    if target == "float16":  # neighbours are half a unit apart
        return number // 2 * bits + number % 2 * 4 * bits
    if bits == 1:
        return number // 4 + (0, 8, 4, 12)[number % 4]
    return number // 4 * bits + number % 4 * 8


@dataclass(frozen=True)
class Decoder:
    """A function of (integers, results, [scale], [zero point]): `write` stores what the fields of the integers hold."""

    name: str
    bits: int  # of a field
    count: int  # what a call asks for that does not say
    results: int  # for each of the count
    extras: tuple[str, ...]  # further addresses it takes: "scale", "zeros"
    write: Callable[..., None]

    @property
    def source(self) -> str:
        """What T.import_source takes: it says that the function is used."""
        return f"// tilery: {self.name}\n"


def _integers(bits: int, signed: bool, target: str, mode: str) -> Callable[..., None]:
    low = (1 << (bits - 1) if bits > 1 else 1) if signed else 0

    def write(packed: Sequence[Any], results: Sequence[Any], scale: Any = None, zero: Any = None) -> None:
        group = unit(bits, target)
        for number, result in enumerate(results):
            field = _field(packed, number // group * group * bits + place(bits, target, number % group), bits)
            if signed and bits == 1:
                field = binary("*", field, 2)
            value = cast(binary("-", cast(field, "int32"), low), target)
            if mode == "rescale":
                value = binary("-", binary("*", value, scale), zero)
            else:
                value = value if zero is None else binary("-", value, zero)
                value = value if scale is None else binary("*", value, scale)
            result.store(cast(value, result.dtype))

    return write


def _field(packed: Sequence[Any], start: int, bits: int) -> Any:
    """Bits of neighbouring integers, the first one lowest."""
    width = packed[0].dtype.bits
    word = cast(cast(packed[start // width], f"uint{width}"), "uint32")
    return binary("&", binary(">>", word, cast(start % width, "uint32")), cast((1 << bits) - 1, "uint32"))


def _twiddled(packed: Sequence[Any], results: Sequence[Any]) -> None:
    """Four floats e2m1 in two bytes, the first byte above: three stand where a bfloat16 has its sign and lowest bits of exponent
    after 0, 3 and 6 places; the fourth is made of what lies between."""
    from .. import language as T

    for number, result in enumerate(results):
        pair = _pair(packed, number // 4)
        if number % 4 < 3:
            moved = binary("<<", pair, 3 * (number % 4))
            sign, rest = binary("&", binary(">>", moved, 12), 8), binary("&", binary(">>", moved, 6), 7)
        else:
            sign = binary("&", binary(">>", pair, 11), 8)
            rest = binary("|", binary("&", binary(">>", pair, 9), 6), binary("&", binary(">>", pair, 13), 1))
        bits = _fp4(binary("|", sign, rest), 8, 7, 127, 15, "uint16")
        result.store(cast(T.reinterpret(bits, "bfloat16"), result.dtype))


def _pair(packed: Sequence[Any], number: int) -> Any:
    high, low = (_field(packed, 8 * byte, 8) for byte in (2 * number, 2 * number + 1))
    return cast(binary("|", binary("<<", high, 8), low), "int32")


def _made() -> dict[str, Decoder]:
    found = [Decoder("decode_fp4_to_bf16_twiddling", 4, 1, 8, (), _twiddled)]
    for target, suffix in _TARGETS.items():
        for bits in _FIELD_BITS:
            for sign in "us":
                name = f"decode_i{bits}{sign}_to_{suffix}"
                kinds: dict[str, tuple[str, ...]] = {"": ()}
                if target == "float16":
                    kinds |= {"_scale": ("scale",)}
                    kinds |= {f"_scale_zeros_{mode}": ("scale", "zeros") for mode in ("original", "rescale")}
                for ending, extras in kinds.items():
                    write = _integers(bits, sign == "s", target, ending.rpartition("_")[2])
                    found.append(Decoder(name + ending, bits, 8 if target == "float16" else 16, 1, extras, write))
    return {decoder.name: decoder for decoder in found}


DECODERS = _made()


def _group(name: str) -> dict[str, str]:
    if name not in DECODERS:
        raise error(ValueError, f"there is no decoder {name}", hint="known: " + ", ".join(DECODERS))
    return {"func_name": name, "c_source": DECODERS[name].source}


def get_lop3_intrin_group(
    out_dtype: Any,
    source_format: str = "uint",
    source_bit: int = 4,
    storage_dtype: Any = "int8",
    with_scaling: bool = False,
    with_zeros: bool = False,
    zeros_mode: str = "original",
    storage_scope: str = "local",
) -> dict[str, str]:
    """{"func_name", "c_source"} of the decoder of interleaved integers: what T.call_extern and T.import_source take. Signed ones
    are stored with half their range added, those of one bit are -1 and 1."""
    if str(source_format) not in ("int", "uint"):
        raise error(ValueError, f"get_lop3_intrin_group has no source_format {source_format!r}", hint="known: int, uint")
    target = _TARGETS.get(str(out_dtype))
    ending = ("_scale" if with_scaling else "") + (f"_zeros_{zeros_mode}" if with_zeros else "")
    return _group(f"decode_i{source_bit}{'s' if str(source_format) == 'int' else 'u'}_to_{target or out_dtype}{ending}")


def get_mxfp_intrin_group(
    out_dtype: Any = "bfloat16",
    source_format: str = "uint",
    source_bit: int = 4,
    storage_dtype: Any = "uint8",
    use_twiddling: bool = False,
) -> dict[str, str]:
    """{"func_name", "c_source"} of the decoder of 4-bit floats, `use_twiddling`: of those whose bits are spread over pairs of
    bytes."""
    if str(source_format) not in ("int", "uint"):
        raise error(ValueError, f"get_mxfp_intrin_group has no source_format {source_format!r}", hint="known: int, uint")
    short = {"bfloat16": "bf16", "float16": "f16"}.get(str(out_dtype), str(out_dtype))
    return _group(f"decode_fp{source_bit}_to_{short}{'_twiddling' if use_twiddling else ''}")
