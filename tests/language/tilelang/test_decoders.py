"""Functions of tilelang.quantize that unpack interleaved integers and spread 4-bit floats, called by name in kernels; against
NumPy's shifts and torch's bfloat16."""

import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T
from tilery.tilelang.quantize import general_compress, get_lop3_intrin_group, get_mxfp_intrin_group, interleave_weight

pytestmark = pytest.mark.usefixtures("engine")


def unpacks(function, groups, width, storage, count, target):
    """Each thread unpacks `count` numbers from `width` stored ones."""

    @T.prim_func
    def main(P: T.Tensor((groups * width,), storage), Numbers: T.Tensor((groups * count,), target)):
        with T.Kernel(T.ceildiv(groups, 32), threads=32) as block:
            thread = block * 32 + T.get_thread_binding()
            packed, numbers = T.alloc_local((width,), storage), T.alloc_local((count,), target)
            T.import_source(function["c_source"])
            if thread < groups:
                for i in T.serial(width):
                    packed[i] = P[thread * width + i]
                T.call_extern(function["func_name"], T.address_of(packed[0]), T.access_ptr(numbers[0], "w"), dtype=target)
                for i in T.serial(count):
                    Numbers[thread * count + i] = numbers[i]

    return tilelang.compile(main, out_idx=[-1])


@pytest.mark.parametrize("source", ["uint", "int"])
@pytest.mark.parametrize("target", ["float16", "int8"])
@pytest.mark.parametrize("bits", [1, 2, 4])
def test_integers(bits, target, source, device):
    count = 8 if target == "float16" else 16
    numbers = np.random.default_rng(bits).integers(0, 1 << bits, 1280)
    packed = interleave_weight(general_compress(numbers, bits), bits, target)
    function = get_lop3_intrin_group(out_dtype=target, source_format=source, source_bit=bits)
    kernel = unpacks(function, 1280 // count, count * bits // 8, "int8", count, target)
    expected = numbers if source == "uint" else 2 * numbers - 1 if bits == 1 else numbers - (1 << (bits - 1))
    assert kernel(torch.from_numpy(packed).to(device)).tolist() == expected.tolist()


@pytest.mark.parametrize("mode", [None, "original", "rescale"])
def test_scales_and_zero_points(mode, device):
    function = get_lop3_intrin_group("float16", "uint", 4, with_scaling=True, with_zeros=mode is not None, zeros_mode=mode)
    name = function["func_name"]

    @T.prim_func
    def main(P: T.Tensor((8,), "uint32"), S: T.Tensor((2, 8), "float16"), Numbers: T.Tensor((8, 8), "float16")):
        with T.Kernel(8, threads=1) as block:
            factors, numbers = T.alloc_local((2,), "float16"), T.alloc_local((8,), "float16")
            packed = T.alloc_local((1,), "uint32")
            packed[0], factors[0], factors[1] = P[block], S[0, block], S[1, block]
            begin, end = T.address_of(packed[0]), T.address_of(numbers[0])
            if mode:
                T.call_extern("handle", name, begin, end, T.address_of(factors[0]), T.address_of(factors[1]), 8)
            else:
                T.call_extern("handle", name, begin, end, T.address_of(factors[0]))
            for i in T.serial(8):
                Numbers[block, i] = numbers[i]

    numbers = np.random.default_rng(1).integers(0, 16, 64)
    packed = interleave_weight(general_compress(numbers, 4), 4, "float16").view(np.int32)
    scales = torch.tensor([[0.5, 1, 2, 4, 0.25, 1, 2, 8], [8, 7, 1, 2, 3, 0.5, 9, 4]], dtype=torch.float16, device="cpu")
    scale, zero = scales.double()[0, :, None], scales.double()[1, :, None]
    values = torch.from_numpy(numbers).double().reshape(8, 8)
    expected = {None: values * scale, "original": (values - zero) * scale, "rescale": values * scale - zero}[mode]
    result = tilelang.compile(main, out_idx=[-1])(torch.from_numpy(packed).view(torch.uint32).to(device), scales.to(device))
    assert torch.equal(result.cpu().double(), expected)


def test_floats_spread_over_pairs_of_bytes(device):
    pairs = torch.arange(65536, device="cpu")
    packed = torch.stack([pairs >> 8, pairs & 255], 1).reshape(-1).to(torch.uint8)
    mask, fields = 0b1000000111000000, []
    for position in range(3):
        fields.append((pairs << 3 * position) & mask)
    fields.append(((pairs << 1) & 0x8000) | ((pairs >> 3) & 0b110000000) | ((pairs >> 7) & 0b1000000))
    expected = torch.stack(fields, 1).to(torch.uint16).view(torch.bfloat16).double() * 2.0**126
    function = get_mxfp_intrin_group(use_twiddling=True)
    result = unpacks(function, 32768, 4, "uint8", 8, "bfloat16")(packed.to(device))
    assert torch.equal(result.cpu().double(), expected.reshape(-1))


def test_what_is_refused():
    with pytest.raises(ValueError, match="no decoder decode_i3u_to_f16"):
        get_lop3_intrin_group("float16", source_bit=3)
    with pytest.raises(ValueError, match="no source_format 'nf'"):
        get_lop3_intrin_group("float16", source_format="nf")

    def calls(act):
        def main(A: T.Tensor((8,), "int8")):
            with T.Kernel(1, threads=1):
                act(A)

        return T.prim_func(main)

    name = get_lop3_intrin_group("float16")["func_name"]
    for act, kind, message in (
        (lambda A: T.call_extern("handle", "__my_function", T.address_of(A[0])), NotImplementedError, "knows no function"),
        (lambda A: T.import_source("__device__ int f();"), NotImplementedError, "takes no program text"),
        (lambda A: T.call_extern(name, T.address_of(A[0]), dtype="float16"), TypeError, r"takes \(source, dest"),
        (lambda A: T.call_extern(name, A[0], A[1], dtype="float16"), TypeError, "takes addresses"),
        (lambda A: T.call_extern(name, T.address_of(A[0]), T.address_of(A[0]), 0, dtype="float16"), TypeError, "a fixed number"),
    ):
        with pytest.raises(kind, match=message):
            calls(act).script()
