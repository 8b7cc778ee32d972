"""Whether there is an AMD GPU to compile for."""

from ..utils.target import check_hip_availability, target_is_hip

__all__ = ["check_hip_availability", "target_is_hip"]
