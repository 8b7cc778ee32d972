"""Attention of few queries to many keys on Hopper: which spellings go through block IR, and that they are right."""

from pathlib import Path

import pytest
import torch
from language.attention import attention_with_bound

from tilery import _native, compat

PEERS = Path(__file__).resolve().parents[2] / "benchmarks" / "peers"
TILEON, TILELANG = (compat.load(PEERS / f"{language}_decode.py") for language in ("tileon", "tilelang"))
TABLES = {"in order": 0, "pages of 64": 64, "a page a key": 1}


class Grouped:
    """Sequences of keys in a pool of rows, and queries of some heads for each group."""

    def __init__(self, device, page, heads=8, groups=2, keys=512, d=128, dtype=torch.float16):
        self.batch, self.heads, self.groups, self.keys, self.page = 3, heads, groups, keys, page
        rows = self.batch * keys
        self.q = torch.randn(self.batch, heads, d, device=device).to(dtype)
        self.k, self.v = (torch.randn(rows, groups, d, device=device).to(dtype) for _ in range(2))
        self.lengths = torch.tensor([keys, keys - 77, 3 * keys // 4], dtype=torch.int32, device=device)
        order = torch.randperm if page else torch.arange
        pages = order(rows // max(page, 1), device=device, dtype=torch.int32)
        self.table = pages.view(self.batch, -1)
        at = pages[:, None] * max(page, 1) + torch.arange(max(page, 1), device=device)
        self.rows = at.view(self.batch, keys).long()

    def launch(self, varies, splits=2, block_h=16, block_n=64):
        """The launch, and its result of every head."""
        d = self.q.shape[-1]
        parts = torch.full((self.batch, self.heads, splits, d), float("nan"), device=self.q.device)
        logs = torch.full((self.batch, self.heads, splits), float("nan"), device=self.q.device)
        kernel = TILEON.grouped[(self.batch, self.groups, splits)](
            self.q, self.k, self.v, parts, logs, self.lengths, self.table, d**-0.5, self.keys,
            HEADS=self.heads, KV_HEADS=self.groups, SPLITS=splits, PAGE=self.page,
            BLOCK_H=block_h, BLOCK_N=block_n, D=d, VARIES=varies, num_warps=4,
        )  # fmt: skip
        out = torch.empty_like(self.q)
        TILEON.combine[(self.batch * self.heads,)](parts, logs, out, SPLITS=splits, D=d)
        return kernel, out

    def check(self, out, varies, block_n=64):
        for i in range(self.batch):
            rows = self.rows[i, : self.lengths[i] if varies else self.keys]
            k, v = (x[rows].repeat_interleave(self.heads // self.groups, 1).transpose(0, 1) for x in (self.k, self.v))
            exact, bound = attention_with_bound(self.q[i, :, None], k, v, block=block_n, scale=self.q.shape[-1] ** -0.5)
            # The bound is for sums that round; tensor cores may cut off, which is twice that.
            assert ((out[i, :, None].double() - exact).abs() <= 2 * bound).all()


def takes_the_path(module, assemble):
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


@pytest.mark.pairs
@pytest.mark.parametrize("varies", [False, True])
@pytest.mark.parametrize("page", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("block_h", [16, 64])
def test_grouped_takes_the_path(block_h, page, varies, assemble):
    case = Grouped("cpu", page)
    kernel, out = case.launch(varies, block_h=block_h)
    case.check(out, varies)
    takes_the_path(kernel.module, assemble)


@pytest.mark.gpu
@pytest.mark.parametrize("varies", [False, True])
@pytest.mark.parametrize("page", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("dtype, block_h", [(torch.float16, 16), (torch.bfloat16, 64), (torch.bfloat16, 32)], ids=str)
def test_grouped(dtype, block_h, page, varies):
    case = Grouped("cuda", page, dtype=dtype)
    case.check(case.launch(varies, block_h=block_h)[1], varies)


def grouped_split(device):
    """TileLang's spelling; the kernel and how far its result may be off, over how far it is."""
    batch, heads, groups, keys, d, splits = 2, 8, 2, 512, 128, 2
    q = torch.randn(batch, heads, d, device=device).half()
    k, v = (torch.randn(batch, keys, groups, d, device=device).half() for _ in range(2))
    logs, parts = torch.empty(batch, heads, splits, device=device), torch.empty(batch, heads, splits, d, device=device)
    kernel = TILELANG.grouped_split(batch, heads, groups, keys, d, 128, 64, splits)
    kernel(q, k, v, logs, parts)
    weights = (logs - logs.amax(-1, keepdim=True)).exp2()[..., None]
    out = (parts * weights).sum(2) / weights.sum(2)
    k, v = (x.repeat_interleave(heads // groups, 2).transpose(1, 2) for x in (k, v))
    exact, bound = attention_with_bound(q[:, :, None], k, v, block=128, scale=d**-0.5)
    assert ((out[:, :, None].double() - exact).abs() <= 2 * bound).all()
    return kernel._latest()


def test_grouped_split_takes_the_path(assemble):
    takes_the_path(grouped_split("cpu").module, assemble)


@pytest.mark.gpu
def test_grouped_split():
    grouped_split("cuda")


def latent_heads(device, page, block_n):
    """TileLang's latent attention, checked; its module."""
    batch, heads, keys, d, rope = 2, 64, 128, 512, 64
    q, q_rope = torch.randn(batch, heads, d, device=device).half(), torch.randn(batch, heads, rope, device=device).half()
    kv, k_rope = torch.randn(batch * keys, d, device=device).half(), torch.randn(batch * keys, rope, device=device).half()
    each = page or keys
    table = torch.randperm(batch * keys // each, device=device, dtype=torch.int32) if page else torch.arange(batch, device=device)
    out = torch.full_like(q, float("nan"))
    kernel = TILELANG.latent_heads(batch, heads, keys, d, rope, block_n, 64, page)
    kernel(q, q_rope, kv, k_rope, table.int().view(batch, -1), out)
    rows = (table.long()[:, None] * each + torch.arange(each, device=device)).view(batch, keys)
    check_latent(torch.cat([q, q_rope], -1), torch.cat([kv, k_rope], -1)[rows], out, block_n)
    return kernel._latest().module


def check_latent(q, rows, out, block):
    d = q.shape[-1]
    k = rows[:, None].expand(-1, q.shape[1], -1, -1)
    exact, bound = attention_with_bound(q[:, :, None], k, k[..., : out.shape[-1]], block=block, scale=d**-0.5)
    # Sums may be cut off, which is twice that.
    assert ((out[:, :, None].double() - exact).abs() <= 2 * bound).all()


def latent(device, block_h):
    """Tileon's, keys by a table; its module."""
    batch, heads, keys, d, rope = 2, 32, 128, 512, 64
    q = torch.randn(batch, heads, d + rope, device=device).half()
    kv = torch.randn(batch * keys, d + rope, device=device).half()
    table = torch.randperm(batch * keys, device=device, dtype=torch.int32).view(batch, keys)
    parts = torch.full((batch, heads, 2, d), float("nan"), device=device)
    logs = torch.full((batch, heads, 2), float("nan"), device=device)
    lengths = torch.tensor([keys, keys - 56], dtype=torch.int32, device=device)
    kernel = TILEON.latent[(batch, heads // block_h, 2)](
        q, kv, parts, logs, table, lengths, (d + rope) ** -0.5, keys,
        HEADS=heads, SPLITS=2, BLOCK_H=block_h, BLOCK_N=32, D=d, DR=rope, num_warps=8,
    )  # fmt: skip
    out = torch.empty(batch, heads, d, device=device).half()
    TILEON.combine[(batch * heads,)](parts, logs, out, SPLITS=2, D=d)
    for i in range(batch):
        check_latent(q[i, None], kv[table[i, : lengths[i]].long()][None], out[i, None], 32)
    return kernel.module


def takes_it(module):
    """The path; a few registers may spill beside 128 sums of the values and 32 of the scores."""
    assert ": blocks consumers=2" in _native.compile(module, disjoint=True, texts=True, target="sm_90a").plan


@pytest.mark.parametrize("page, block_n", [(0, 64), (64, 64), (64, 32)])
def test_latent_heads_take_the_path(page, block_n):
    takes_it(latent_heads("cpu", page, block_n))


@pytest.mark.parametrize("block_h", [16, 32])
def test_latent_takes_the_path(block_h):
    takes_it(latent("cpu", block_h))


@pytest.mark.gpu
@pytest.mark.parametrize("page, block_n", [(0, 64), (64, 64), (0, 32), (64, 32)])
def test_latent_heads(page, block_n):
    latent_heads("cuda", page, block_n)


@pytest.mark.gpu
@pytest.mark.parametrize("block_h", [16, 32])
def test_latent(block_h):
    latent("cuda", block_h)
