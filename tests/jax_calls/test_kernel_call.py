"""Kernels of the three languages as calls of XLA."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

from tilery import ninetoothed, tilelang, tileon
from tilery.errors import Error
from tilery.jax import kernel_call
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl

# ---- sums by Tileon


@tileon.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@tileon.jit
def update_kernel(x, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, factor * tl.load(x + i, mask=i < n), mask=i < n)


def like(x, shape=None):
    return jax.ShapeDtypeStruct(x.shape if shape is None else shape, x.dtype)


def blocks(meta):
    return (tileon.cdiv(meta["n"], meta["BLOCK"]),)


def added(x, y, **options):
    return kernel_call(add_kernel, like(x), grid=blocks, **options)(x, y, n=x.size, BLOCK=64)


# ---- products by a number by NineToothed


def _rows(x, scale, out, BLOCK=ninetoothed.block_size()):
    return x.tile((1, BLOCK)), scale, out.tile((1, BLOCK))


def _scaled(x, scale, out):
    out = x * scale  # noqa: F841


scale_kernel = ninetoothed.make(_rows, _scaled, (Tensor(2), Tensor(0), Tensor(2)))


def scaled(x, scale):
    return kernel_call(scale_kernel, like(x))(x, scale)


# ---- sums of rows by TileLang


@tilelang.jit(out_idx=[0, 2])
def sums_of(columns, dtype="float32"):
    rows = T.dynamic("rows")

    @T.prim_func
    def sums(Sums: T.Tensor((rows,), "float32"), X: T.Tensor((rows, columns), dtype), Doubled: T.Tensor((rows, columns), dtype)):
        with T.Kernel(rows, threads=32) as row:
            tile, total = T.alloc_fragment((1, columns), "float32"), T.alloc_fragment((1,), "float32")
            T.copy(X[row, 0], tile)
            T.reduce_sum(tile, total, dim=1)
            T.copy(total, Sums[row])
            for j in T.Parallel(columns):
                Doubled[row, j] = 2 * tile[0, j]

    return sums


def sums(x):
    return kernel_call(sums_of(x.shape[1], str(x.dtype)))(x)


@pytest.fixture
def x():
    return jax.random.normal(jax.random.key(0), (6, 40))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "int8"])
def test_calls_and_jit(x, dtype):
    x = (10 * x).astype(dtype)
    for call in (added, jax.jit(added)):
        np.testing.assert_array_equal(call(x, x), x + x)
    if dtype != "int8":
        total, doubled = jax.jit(sums)(x)
        np.testing.assert_allclose(total, x.astype("float32").sum(1), rtol=1e-5)
        np.testing.assert_array_equal(doubled, 2 * x)


def test_numbers(x):
    np.testing.assert_array_equal(jax.jit(scaled, static_argnums=1)(x, 1.5), x * 1.5)
    np.testing.assert_array_equal(scaled(x, -3), x * -3)
    np.testing.assert_array_equal(scaled(x, np.float32(0.1)), x * np.float32(0.1))


def test_what_xla_is_given_has_no_callback(x):
    text = jax.jit(added).lower(x, x).as_text()
    assert "tilery_kernel" in text and "callback" not in text


@pytest.mark.parametrize("method", ["expand_dims", "broadcast_all", "sequential"])
def test_vmap(x, method):
    batch = jnp.arange(3 * 2 * 40.0).reshape(3, 2, 40)
    call = lambda x, y: added(x, y, vmap_method=method)
    np.testing.assert_array_equal(jax.jit(jax.vmap(call, (1, None)))(batch, x[:3]), batch.swapaxes(0, 1) + x[:3])
    nested = jax.vmap(jax.vmap(call, (0, None)), (0, 0))
    np.testing.assert_array_equal(nested(batch, x[:3]), batch + x[:3, None])
    across = jax.vmap(jax.vmap(call, (None, 0)), (0, None))
    np.testing.assert_array_equal(across(x[:3], x), x[:3, None] + x[None])
    assert jax.vmap(call)(batch[:0], batch[:0]).shape == (0, 2, 40)


def test_vmap_of_rows(x):
    batch = jnp.stack([x, 2 * x, -x], 2)
    total, doubled = jax.jit(jax.vmap(sums, 2))(batch)
    np.testing.assert_allclose(total, batch.sum(1).T, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(doubled, 2 * batch.transpose(2, 0, 1))


def test_custom_vjp(x):
    @jax.custom_vjp
    def squared(x):
        return kernel_call(sums_of(x.shape[1]))(x * x)[0]

    squared.defvjp(lambda x: (squared(x), x), lambda x, grad: (scaled(x * grad[:, None], 2.0),))
    found = jax.jit(jax.grad(lambda x: (squared(x) ** 2).sum()))(x)
    wanted = jax.grad(lambda x: ((x * x).sum(1) ** 2).sum())(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_shard_map(x):
    """Each device calls the kernel for its own rows."""
    devices = jax.devices() if jax.device_count() > 1 else jax.devices("cpu")  # two of these always
    mesh = jax.make_mesh((2,), ("rows",), devices=devices[:2])
    rows = PartitionSpec("rows")
    placed = jax.device_put(x, NamedSharding(mesh, rows))
    shapes = []

    def on_each(x):
        shapes.append(x.shape)
        return added(x, scaled(x, 2.0))

    found = jax.jit(jax.shard_map(on_each, mesh=mesh, in_specs=rows, out_specs=rows, check_vma=False))(placed)
    assert set(shapes) == {(3, 40)} and len(found.addressable_shards) == 2
    np.testing.assert_allclose(found, 3 * x, rtol=1e-6)


def test_in_place(x):
    def call(x):
        update = kernel_call(update_kernel, like(x), grid=blocks, input_output_aliases={0: 0})
        return update(x, factor=3, n=x.size, BLOCK=64)

    before = np.array(x)
    np.testing.assert_array_equal(jax.jit(call)(x), 3 * before)
    np.testing.assert_array_equal(x, before)  # arrays of JAX do not change: XLA copies what is needed later
    batch = jnp.stack([x, -x])
    np.testing.assert_array_equal(jax.vmap(call)(batch), 3 * batch)


def test_tuned_kernels(x):
    tuned = tileon.autotune([tileon.Config({"BLOCK": 32}), tileon.Config({"BLOCK": 64})], key=["n"])(add_kernel)
    found = jax.jit(lambda x: kernel_call(tuned, like(x), grid=blocks)(x, x, n=x.size))(x)
    np.testing.assert_array_equal(found, 2 * x)
    assert tuned.best_config


def test_any_address(x):
    """Code for aligned arrays is not taken for others: XLA is given what NumPy has."""
    memory = np.zeros(4 * 1001, np.uint8)
    for begin in (0, 4, 8):
        view = memory[begin:][: 4 * 900].view(np.float32)
        view[:] = np.arange(900)
        np.testing.assert_array_equal(jax.jit(added)(view, view), view + view)


def test_an_exported_program_has_its_kernels(x, tmp_path):
    check = jax.export.DisabledSafetyCheck.custom_call("tilery_kernel")
    exported = jax.export.export(jax.jit(added), disabled_checks=[check])(x, x)
    (tmp_path / "program").write_bytes(exported.serialize())
    program = f"""
import sys
import jax, numpy as np, tilery.jax
tilery.jax.register()
exported = jax.export.deserialize(bytearray(open({str(tmp_path / "program")!r}, "rb").read()))
x = np.arange(240, dtype=np.float32).reshape(6, 40)
np.testing.assert_array_equal(exported.call(x, x), x + x)
print(*(name for name in ("tilery.tileon", "tilery.frontend.rewrite") if name in sys.modules), "done")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["done"]


def test_code_for_another_machine_alone(x):
    """Code for GPUs needs none to be made; a call where there is none says so, as does one where there is nothing else."""
    other = "cpu" if jax.default_backend() == "gpu" else "cuda"
    with pytest.raises(Exception, match="add_kernel was not compiled for this machine"):
        added(x, x, platforms=[other]).block_until_ready()
    np.testing.assert_array_equal(added(x, x, platforms=["cuda", "cpu"]), x + x)


def test_errors(x):
    swapped = kernel_call(add_kernel, like(x), grid=(4,))

    def aliased(pairs):
        return kernel_call(add_kernel, like(x), grid=(1,), input_output_aliases=pairs)(x, x, n=1, BLOCK=4)

    cases = [
        (lambda: kernel_call(update_kernel, like(x), grid=(1,))(x, n=1, factor=1, BLOCK=4), TypeError, "factor"),
        (lambda: scaled(x, jnp.float32(2)), TypeError, "`scale` of .* is a number, got an array"),
        (lambda: kernel_call(scale_kernel)(x, 1.0), TypeError, "does not say what its results are"),
        (lambda: kernel_call(add_kernel, like(x), vmap_method="expand"), ValueError, "did you mean expand_dims?"),
        (lambda: kernel_call(add_kernel, "float32", grid=(1,))(x, x, n=1, BLOCK=4), TypeError, "ShapeDtypeStruct"),
        (lambda: kernel_call(add_kernel, like(x), grid=(1,), platforms=["tpu"])(x, x, n=1, BLOCK=4), ValueError, "'tpu'"),
        (lambda: jax.jit(lambda n: swapped(x, x, n=n, BLOCK=64))(240), TypeError, "`n` is an array, or traced by JAX"),
        (lambda: kernel_call(add_kernel, like(x), input_output_aliases="a"), TypeError, "maps numbers of operands"),
        (lambda: aliased({3: 0}), ValueError, "names operand 3, but there are 2"),
        (lambda: aliased({-1: 0}), ValueError, "names operand -1"),
        (lambda: aliased({0: 3}), ValueError, "names result 3, but there are 1"),
        (lambda: aliased({0: 0, 1: 0}), ValueError, "gives two operands one result"),
    ]
    for call, kind, message in cases:
        with pytest.raises(kind, match=message) as caught:
            call()
        assert isinstance(caught.value, Error)


def test_what_is_written_must_be_a_result(x):
    """JAX shares its arrays: a kernel that wrote to an operand would change others' values."""
    with pytest.raises(ValueError, match="the kernel writes to `x`, which is an operand"):

        @tileon.jit
        def both(x, out, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(out + i, tl.load(x + i))
            tl.store(x + i, 0.0)

        kernel_call(both, like(x), grid=(1,))(x, BLOCK=64)
    with pytest.raises(ValueError, match="the kernel does not write to result 1"):

        @tileon.jit
        def one(x, out, other, BLOCK: tl.constexpr):
            tl.store(out + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)))

        kernel_call(one, [like(x), like(x)], grid=(1,))(x, BLOCK=64)


@pytest.mark.gpu(emulated=False)
def test_on_a_gpu(x):
    if jax.default_backend() != "gpu":
        pytest.skip("needs an NVIDIA GPU and JAX's plugin for it")
    for call in (added, jax.jit(added), jax.jit(lambda x, y: added(scaled(x, 2.0), y))):
        call(x, x).block_until_ready()
    np.testing.assert_array_equal(jax.jit(added)(x, x), x + x)
    np.testing.assert_array_equal(jax.vmap(added)(jnp.stack([x, -x]), jnp.stack([x, x])), jnp.stack([2 * x, 0 * x]))
    total, doubled = jax.jit(sums)(x)
    np.testing.assert_allclose(total, x.sum(1), rtol=1e-4, atol=1e-4)
