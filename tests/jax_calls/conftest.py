import pytest

jax = pytest.importorskip("jax", reason="needs jax")
jax.config.update("jax_num_cpu_devices", 2)  # for shard_map, before there are any
