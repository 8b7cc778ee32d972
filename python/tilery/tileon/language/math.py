"""tl.math."""

from ...core.tile.math import *  # noqa: F403
