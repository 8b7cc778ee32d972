import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: it is no part of Tilery, tilery.jax alone imports it")
jax.config.update("jax_num_cpu_devices", 2)  # for shard_map, before there are any
