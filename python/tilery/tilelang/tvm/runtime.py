"""Element types with lanes."""

from ..tracing.dtypes import dtype as DataType

__all__ = ["DataType"]
