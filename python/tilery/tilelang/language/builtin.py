"""What threads of a block say to each other and to the machine: without effect, a tile program is one thread."""

from __future__ import annotations

from typing import Any


def disable_warp_group_reg_alloc() -> None:
    """Leaves the registers of threads as they are; a hint."""


def no_set_max_nreg() -> None:
    """Leaves the registers of threads as they are; a hint."""


def set_max_nreg(reg_count: int, is_inc: int) -> None:
    """Registers of a thread from here on; a hint."""


def inc_max_nreg(reg_count: int) -> None:
    """Registers of a thread from here on; a hint."""


def dec_max_nreg(reg_count: int) -> None:
    """Registers of a thread from here on; a hint."""


def sync_threads(barrier_id: int | None = None, arrive_count: int | None = None) -> None:
    """Waits for the threads of a block; statements of a tile program take effect in order anyway."""


def sync_warp(mask: int | None = None) -> None:
    """Waits for the threads of a warp; statements of a tile program take effect in order anyway."""


def sync_global() -> None:
    """Waits for writes to tensors; statements of a tile program take effect in order anyway."""


def fence_proxy_async(*buffers: Any) -> None:
    """Orders writes before asynchronous copies; statements of a tile program take effect in order anyway."""
