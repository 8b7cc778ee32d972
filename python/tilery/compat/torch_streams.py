"""Streams and events under the device rule: the one device runs each piece of work when it is given."""

from __future__ import annotations

import time
from typing import Any

from . import torch_graphs


class Event:
    """A point in time: the work before it is done when it is recorded."""

    cuda_event = event_id = 0

    def __init__(self, device: Any = None, enable_timing: bool = False, *args: Any, **options: Any) -> None:
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        self._time = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to `end_event`."""
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time - self._time) * 1e3

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        torch_graphs.forbid("Event.synchronize")

    def wait(self, stream: Stream | None = None) -> None:
        pass


class Stream:
    """The one queue of a device that runs each piece of work when it is given."""

    cuda_stream = stream_id = native_handle = 0
    device_index = 0
    device_type = 1  # torch's number of CUDA

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.priority = priority

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return (0, -1)

    @property
    def device(self) -> Any:
        import torch

        return torch.device("cuda")

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        torch_graphs.forbid("Stream.synchronize")

    def wait_stream(self, stream: Stream) -> None:
        pass

    def wait_event(self, event: Event) -> None:
        pass

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event
