"""Machines, and configurations that suit them, from a model of time."""

from . import arch, roller, template
from .arch import CPU, CUDA
from .template import ElementwiseTemplate, GEMVTemplate, GeneralReductionTemplate, MatmulTemplate

__all__ = [
    "CPU",
    "CUDA",
    "ElementwiseTemplate",
    "GEMVTemplate",
    "GeneralReductionTemplate",
    "MatmulTemplate",
    "arch",
    "roller",
    "template",
]
