"""Which blocks a persistent program visits, and upstream's schedules of roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..carver.arch.driver import get_num_sms
from ..tracing.context import kernel
from ..tracing.memory import LocalVar, Memory
from ..tracing.values import binary, read
from .allocate import alloc_var


class PersistentTileScheduler:
    """The tiles of a grid of num_m_tiles x num_n_tiles that one of num_workers visits: `init(worker)`, then `valid()`,
    `m_idx`, `n_idx`, `next_tile()`. Tiles follow each other along M (along N without column_major) in stripes of swizzle_size."""

    def __init__(
        self,
        num_m_tiles: Any,
        num_n_tiles: Any,
        num_workers: Any = None,
        swizzle_size: int = 1,
        column_major: bool = True,
        cluster_size: int = 1,
        stateful: bool = True,
        name: str | None = None,
    ) -> None:
        kernel("T.PersistentTileScheduler")
        for what, size in (("swizzle_size", swizzle_size), ("cluster_size", cluster_size)):
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise error(ValueError, f"{what} of T.PersistentTileScheduler is a positive integer, got {size!r}")
        self.cluster_size, self.swizzle_size, self.column_major = cluster_size, swizzle_size, column_major
        self.num_m, self.num_n = binary("//", num_m_tiles, cluster_size), num_n_tiles
        self.num_workers = max(get_num_sms() // cluster_size, 1) if num_workers is None else num_workers
        self.stateful = stateful
        if stateful:
            self._linear, self._iteration, self._m, self._n = (self._variable(name, what) for what in ("linear", "iter", "m",
            "n"))

    @staticmethod
    def _variable(name: str | None, what: str) -> LocalVar:
        variable = alloc_var("int32")
        variable.bound, variable.name = True, f"{name or 'scheduler'}_{what}"
        return variable

    def coord(self, tile_id: Any) -> tuple[Any, Any]:
        """(m, n) of the tile with a linear number."""
        fast, slow = (self.num_m, self.num_n) if self.column_major else (self.num_n, self.num_m)
        tile_id = read(tile_id)
        stripe = binary("*", fast, self.swizzle_size)
        group = binary("//", tile_id, stripe)
        first = binary("*", group, self.swizzle_size)
        width = binary("max", 1, binary("min", self.swizzle_size, binary("-", slow, first)))
        rest = binary("-", tile_id, binary("*", group, stripe))
        fast_place, slow_place = binary("//", rest, width), binary("+", first, binary("%", rest, width))
        return (fast_place, slow_place) if self.column_major else (slow_place, fast_place)

    def _state(self, what: str) -> None:
        if not self.stateful:
            raise error(ValueError, f"T.PersistentTileScheduler(stateful=False) has no {what}", hint="use coord(number)")

    def _place(self) -> None:
        m, n = self.coord(self._linear)
        self._m.store(m)
        self._n.store(n)

    def init(self, worker: Any) -> None:
        """Begins with the tile of a worker."""
        self._state("init")
        self._linear.store(read(worker))
        self._iteration.store(0)
        self._place()

    def valid(self) -> Any:
        """Is there a tile left?"""
        self._state("valid")
        return binary("<", read(self._linear), binary("*", self.num_m, self.num_n))

    def next_tile(self) -> None:
        """Goes on to the next tile of the worker."""
        self._state("next_tile")
        self._linear.store(binary("+", read(self._linear), self.num_workers))
        self._iteration.store(binary("+", read(self._iteration), 1))
        self._place()

    @property
    def m_idx(self) -> Any:
        self._state("m_idx")
        return read(self._m)

    @property
    def n_idx(self) -> Any:
        self._state("n_idx")
        return read(self._n)

    @property
    def linear_idx(self) -> Any:
        self._state("linear_idx")
        return read(self._linear)

    @property
    def current_iter(self) -> Any:
        self._state("current_iter")
        return read(self._iteration)


class WSSync:
    """A step of a role of a schedule: what it waits for or gives back."""

    def __init__(self, kind: str, pipeline: str, stage: Any = None) -> None:
        self.kind, self.pipeline, self.stage = kind, pipeline, stage

    @staticmethod
    def producer_acquire(pipeline: str, stage: Any = 0) -> WSSync:
        return WSSync("producer_acquire", pipeline, stage)

    @staticmethod
    def producer_commit(pipeline: str, stage: Any = 0) -> WSSync:
        return WSSync("producer_commit", pipeline, stage)

    @staticmethod
    def consumer_wait(pipeline: str, stage: Any = 0) -> WSSync:
        return WSSync("consumer_wait", pipeline, stage)

    @staticmethod
    def consumer_release(pipeline: str, stage: Any = 0) -> WSSync:
        return WSSync("consumer_release", pipeline, stage)


class WSInstr:
    """A step of a role of a schedule: the statement of a name."""

    def __init__(self, op: str, annotations: Mapping[str, Any] | None = None) -> None:
        self.op, self.annotations = op, dict(annotations or {})


class WSRole:
    """Warps that carry out a part of a schedule."""

    def __init__(self, name: str, warps_lo: int = 0, warps_hi: int = 1, max_nreg: int | None = None) -> None:
        if not 0 <= warps_lo < warps_hi:
            raise error(ValueError, f"role `{name}` has the warps {warps_lo} to {warps_hi}, which are none")
        self.name, self.warps_lo, self.warps_hi, self.max_nreg = name, warps_lo, warps_hi, max_nreg


class WSPipeline:
    """Buffers that a schedule keeps in `depth` versions."""

    def __init__(self, name: str, buffers: Sequence[Memory], depth: int = 1) -> None:
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise error(ValueError, f"pipeline `{name}` has a positive depth, got {depth!r}")
        self.name, self.buffers, self.depth = name, list(buffers), depth


class WSScope:
    """What each role does in a loop, or in the whole kernel (WSScope.ROOT)."""

    ROOT = "root"

    def __init__(self, name: str, bodies: Mapping[str, Sequence[Any]]) -> None:
        self.name, self.bodies = name, {role: list(steps) for role, steps in bodies.items()}


class WSSchedule:
    """Roles, pipelines and scopes of a kernel."""

    def __init__(
        self,
        num_warps: int,
        roles: Sequence[WSRole],
        pipelines: Sequence[WSPipeline] = (),
        scopes: Sequence[WSScope] = (),
    ) -> None:
        self.num_warps, self.roles, self.pipelines, self.scopes = num_warps, list(roles), list(pipelines), list(scopes)
        self._check()

    def _check(self) -> None:
        roles, pipelines = {role.name for role in self.roles}, {pipeline.name for pipeline in self.pipelines}
        for role in self.roles:
            if role.warps_hi > self.num_warps:
                raise error(ValueError, f"role `{role.name}` has warps up to {role.warps_hi} of {self.num_warps}")
        for scope in self.scopes:
            for name, steps in scope.bodies.items():
                if name not in roles:
                    raise error(ValueError, f"scope `{scope.name}` names the role `{name}`, which the schedule does not have")
                for step in steps:
                    if isinstance(step, WSSync) and step.pipeline not in pipelines:
                        raise error(ValueError, f"`{step.kind}` names the pipeline `{step.pipeline}`, which there is not")


def annotate_ws_schedule(schedule: WSSchedule) -> None:
    """Which roles carry out what; a hint: statements mean what they do in their order."""
    kernel("T.annotate_ws_schedule")
    if not isinstance(schedule, WSSchedule):
        raise error(TypeError, f"T.annotate_ws_schedule takes a T.WSSchedule, got {schedule!r}")
    ignore("T.annotate_ws_schedule", schedule=schedule)


class ws_op:
    """`with T.ws_op("name"):` names statements for a schedule."""

    def __init__(self, name: str) -> None:
        kernel("T.ws_op")
        if not isinstance(name, str):
            raise error(TypeError, f"T.ws_op takes a name, got {name!r}")
        ignore("T.ws_op", name=name)

    def __enter__(self) -> None: ...

    def __exit__(self, *failure: object) -> None: ...
