"""Operations on numbers under the module's other name."""

from ...tracing.values import ROUNDING_MODES as _VALID_CAST_ROUNDING_MODES  # noqa: F401
from .op import *  # noqa: F403
