# Made by tools/functions.py from the tables of functions.
# ruff: noqa
from ...core.tile.types import constexpr as constexpr
N_ROUNDS_DEFAULT: constexpr
PHILOX_KEY_A: constexpr
PHILOX_KEY_B: constexpr
PHILOX_ROUND_A: constexpr
PHILOX_ROUND_B: constexpr
from ...core.tile.random import philox as philox
from ...core.tile.random import rand as rand
from ...core.tile.random import rand4x as rand4x
from ...core.tile.random import randn as randn
from ...core.tile.random import randn4x as randn4x
from ...core.tile.random import randint as randint
from ...core.tile.random import randint4x as randint4x
from ...core.tile.random import philox_impl as philox_impl
from ...core.tile.random import uint_to_uniform_float as uint_to_uniform_float
from ...core.tile.random import pair_uniform_to_normal as pair_uniform_to_normal
