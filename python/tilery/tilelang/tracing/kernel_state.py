"""What is known of the kernel being traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .clusters import Inbox
from .memory import Memory
from .values import Val


class KernelState:
    """The kernel being built: its roots and variables, and what its launch passes for each argument."""

    def __init__(self, name: str, grid: Sequence[Any], threads: Any, condition: Any = None) -> None:
        self.name, self.grid, self.threads = name, grid, threads
        self.condition = condition  # on sizes, under which it is launched
        self.cluster_dims: Any = None
        self.layouts: dict[int, Any] = {}  # id of a tensor with a layout: what gives an element's place
        self.plain = False  # not opened by T.Kernel
        self.random: Any = None  # the state of random numbers
        self.slots: list[tuple[Any, ...]] = []
        self.roots: dict[int, Any] = {}
        self.pointers: dict[int, Any] = {}
        self.strides: dict[int, Any] = {}
        self.variables: dict[int, Any] = {}
        self.safe_values: dict[int, Any] = {}
        self.unnamed: list[Any] = []  # results of updates that have no name yet
        self.sized: list[Memory] = []  # buffers of run-time extents
        self.thread: Val | None = None  # the thread's number; None: not programmed for threads
        self.thread_indices: dict[int, Val] = {}  # along each axis, as far as asked for
        self.kept: list[Memory] = []  # what roots are known by must live as long
        self.buffers: list[Memory] = []  # allocated where they last for the kernel
        self.phases = 1  # parts between which all blocks meet
        self.inboxes: dict[int, Inbox] = {}  # by the id of the buffer
        self.arrivals, self.sent = 0, False  # of other blocks of the cluster, since all have met
        self.numbered: dict[int, Any] = {}  # barriers that programs name by numbers
        self.rounds: dict[tuple[Any, ...], Any] = {}  # how often the threads of some ranges have waited at one
        self.kept_by_threads: list[Memory] = []  # what each thread has, allocated outside of code of single threads
