"""tl.random."""

from ...core.tile.random import *  # noqa: F403
