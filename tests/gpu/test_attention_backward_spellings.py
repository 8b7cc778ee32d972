"""Attention backward in one pass, spelled otherwise: each goes through block IR, and the assembler serialises no product."""

import pytest
import torch
from gpu.programs import EXAMPLES

from tilery import _native, compat

SOURCE = (EXAMPLES / "tileon" / "attention_backward_once.py").read_text()
Q = "q = tl.load(q_ptr + m[:, None] * stride_n + offs_d[None, :])\n"
DOUT = "        dout = tl.load(dout_ptr + m[:, None] * stride_n + offs_d[None, :])\n"
DOTS = "        dots = tl.load(dots_ptr + m)\n"
LOGS = "        logs = tl.load(logs_ptr + m)\n"
DS = "(weights * (tl.dot(v, dout.T) - dots[None, :])).to(q.dtype)"
DK = "        dk = tl.dot(dscores, q, dk)\n"
DQ = '        tl.atomic_add(sums_ptr + m[:, None] * D + offs_d[None, :], tl.dot(dscores.T, k), sem="relaxed")\n'
WEIGHTS = "tl.math.exp2(tl.dot(k, q.T) * scale - logs[None, :])"
SPELLINGS = {
    "sums by +=": {
        "dv = tl.dot(weights.to(dout.dtype), dout, dv)": "dv += tl.dot(weights.to(dout.dtype), dout)",
        DK: DK.replace("dk = tl.dot(dscores, q, dk)", "dk += tl.dot(dscores, q)"),
    },
    "atomics in order": {', sem="relaxed")': ")"},
    "turned before it is rounded": {
        DS: DS.removesuffix(".to(q.dtype)"),
        DK: DK.replace("dscores", "dscores.to(q.dtype)"),
        DQ: DQ.replace("dscores.T", "tl.trans(dscores).to(k.dtype)"),
    },
    "dQ scaled in the loop": {DQ: DQ.replace("k), sem", "k) * 0.125, sem")},
    "dQ before dK": {DK + DQ: DQ + DK},
    "loads first": {DOUT: "", DOTS: "", LOGS: DOUT + DOTS + LOGS},
    "Q loaded turned": {
        Q: "qt = tl.load(q_ptr + m[None, :] * stride_n + offs_d[:, None])\n",
        "tl.dot(k, q.T)": "tl.dot(k, qt)",
        DK: DK.replace(" q,", " tl.trans(qt),"),
        DS: DS.replace("q.dtype", "qt.dtype"),
    },
    "natural logarithms": {WEIGHTS: WEIGHTS.replace("tl.math.exp2", "tl.exp")},
    "scaled difference": {WEIGHTS: "tl.math.exp2((tl.dot(k, q.T) - logs[None, :]) * scale)"},
    "masked rows": {Q: Q.replace("offs_d[None, :])", "offs_d[None, :], mask=m[:, None] < high, other=0.0)")},
}


@pytest.mark.long
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_takes_the_path(spelling, d, assemble, tmp_path):
    text = SOURCE
    for each, other in SPELLINGS[spelling].items():
        assert each in text, each
        text = text.replace(each, other)
    (tmp_path / "spelled.py").write_text(text)
    q, k, v, dout, dk, dv = (torch.randn(1, 2, 256, d).bfloat16() for _ in range(6))
    logs, dots, sums = torch.randn(1, 2, 256), torch.randn(1, 2, 256), torch.zeros(1, 2, 256, d)
    module = compat.load(tmp_path / "spelled.py").keys_kernel[(2, 2)](
        q, k, v, dout, logs, dots, sums, dk, dv, d**-0.5, 2, *q.stride()[:3], 256,
        CAUSAL=d == 64, BLOCK_M=64, BLOCK_N=128, D=d, num_warps=8,
    ).module  # fmt: skip
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=2" in compiled.plan, compiled.plan
    in_order = spelling == "atomics in order"  # threads add, with fences
    assert ("cp.reduce.async.bulk.tensor" in compiled.asm) != in_order
    assert "C75" not in assemble(compiled.asm, "sm_90a")
