"""Sessions: what is measured between `start` and `finalize`, and the files that are written."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

from ...core.present import present
from ...errors import error
from .. import knobs
from ..backends.active import driver

DEFAULT_PROFILE_NAME = "proton"
# What a kernel's launch_metadata may say of its work; it is summed up beside the time.
_WORK = ("flops", "flops8", "flops16", "flops32", "flops64", "bytes")


class Node:
    """A scope or a kernel, with what was measured of it there."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.metrics: dict[str, Any] = {}
        self.children: dict[str, Node] = {}

    def child(self, name: str) -> Node:
        return self.children.setdefault(name, Node(name))

    def add(self, metrics: dict[str, Any]) -> None:
        """Sums numbers up; of anything else the last is kept."""
        for key, value in metrics.items():
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            self.metrics[key] = self.metrics.get(key, 0) + value if number else value

    def as_dict(self) -> dict[str, Any]:
        children = [child.as_dict() for child in self.children.values()]
        return {"frame": {"name": self.name, "type": "function"}, "metrics": self.metrics, "children": children}


class Session:
    """One profile. Each thread has scopes of its own, all under the one root."""

    def __init__(self, name: str, kind: str, hook: bool) -> None:
        self.name, self.kind, self.hook, self.active = name, kind, hook, True
        self.root = Node("ROOT")
        self.root.metrics = {"count": 0, "time (ns)": 0}
        self.events: list[dict[str, Any]] = []
        self.local = threading.local()
        self.first = time.perf_counter_ns()

    @property
    def stack(self) -> list[Node]:
        if not hasattr(self.local, "stack"):
            self.local.stack = [self.root]
        return self.local.stack

    def enter(self, name: str, metrics: dict[str, Any] | None = None) -> None:
        node = self.stack[-1].child(name)
        node.add(metrics or {})
        self.stack.append(node)

    def leave(self) -> Node:
        if len(self.stack) == 1:
            raise error(RuntimeError, "a scope was left that was not entered")
        return self.stack.pop()

    def launched(self, name: str, began: int, ended: int, work: dict[str, Any]) -> None:
        """A kernel ran from `began` to `ended` (time.perf_counter_ns)."""
        target = driver.active.get_current_target()
        where = {"device_id": str(driver.active.get_current_device()), "device_type": target.backend.upper()}
        node = self.stack[-1].child(name)
        node.add({"count": 1, "time (ns)": ended - began, **work, **where})
        if self.kind == "trace":
            times = {"ts": (began - self.first) / 1e3, "dur": (ended - began) / 1e3}
            scopes = [n.name for n in self.stack[1:]]
            event = {"name": name, "cat": "kernel", "ph": "X", "pid": 0, "tid": threading.get_ident(), **times}
            self.events.append({**event, "args": {"scopes": scopes}})

    def write(self, output_format: str) -> None:
        formats = {"hatchet": ".hatchet", "chrome_trace": ".chrome_trace"}
        if output_format not in formats:
            raise error(ValueError, f"unknown output format {output_format!r}", hint="hatchet or chrome_trace")
        target = driver.active.get_current_target()
        device = {target.backend.upper(): {"0": {"arch": str(target.arch), **driver.active.utils.get_device_properties(0)}}}
        content: Any = [self.root.as_dict(), device] if output_format == "hatchet" else {"traceEvents": self.events}
        with open(self.name + formats[output_format], "w", encoding="utf-8") as file:
            json.dump(content, file)


sessions: dict[int, Session] = {}
_numbers = iter(range(1 << 62))
_started = threading.local()


def active() -> list[Session]:
    """The sessions that measure now."""
    return [session for session in sessions.values() if session.active]


def wait() -> None:
    """For a GPU's work."""
    torch = present("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _before(metadata: Any) -> None:
    wait()
    _started.at = time.perf_counter_ns()


def _behind(metadata: Any) -> None:
    wait()
    ended = time.perf_counter_ns()
    about = metadata.get()
    for session in active():
        work = {name: about[name] for name in _WORK if name in about} if session.hook else {}
        session.launched(about["name"], _started.at, ended, work)


def _observe() -> None:
    """Kernels are measured as long as a session is active."""
    enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    if active():
        enter.add(_before)
        leave.add(_behind)
    else:
        enter.remove(_before)
        leave.remove(_behind)


def start(
    name: str | None = None,
    *,
    context: str = "shadow",
    data: str = "tree",
    backend: str | None = None,
    mode: Any = None,
    hook: Any = None,
) -> int | None:
    """Begins to measure each launch, which then waits for its end. Returns the session's number; None with
    TRITON_PROTON_DISABLE=1.

    :param name: the file without its ending, "proton" by default.
    :param data: "tree" (scopes and kernels with sums), or "trace" (each launch as well).
    :param context: "shadow": scopes are those that the program enters.
    :param hook: "triton": what launch_metadata says of a launch's work is summed up, too.
    :raises tilery.NotImplementedError: another context, or a back end that looks into kernels.
    """
    if knobs.proton.disable:
        return None
    if context != "shadow":
        raise error(NotImplementedError, f"context {context!r} is not known", hint='scopes are entered by the program: "shadow"')
    if data not in ("tree", "trace"):
        raise error(ValueError, f"data is {data!r}", hint='"tree" or "trace"')
    if backend not in (None, "", "cupti") or mode not in (None, ""):
        message = f"backend={backend!r}, mode={mode!r}: times inside kernels are not measured"
        raise error(NotImplementedError, message, hint="leave `backend` and `mode` out: launches are timed")
    number = next(_numbers)
    sessions[number] = Session(name or DEFAULT_PROFILE_NAME, data, hook is not None)
    _observe()
    return number


def _chosen(session: int | None) -> list[Session]:
    if session is not None and session not in sessions:
        raise error(ValueError, f"there is no session {session}")
    return list(sessions.values()) if session is None else [sessions[session]]


def activate(session: int | None = None) -> None:
    """Measures again; without a number in all sessions."""
    for one in _chosen(session):
        one.active = True
    _observe()


def deactivate(session: int | None = None) -> None:
    """Measures no more until `activate`."""
    for one in _chosen(session):
        one.active = False
    _observe()


def finalize(session: int | None = None, output_format: str = "") -> None:
    """Ends a session, or all, and writes NAME.hatchet, or NAME.chrome_trace of a session of data "trace"."""
    for one in _chosen(session):
        one.write(output_format or ("chrome_trace" if one.kind == "trace" else "hatchet"))
    for number in [session] if session is not None else list(sessions):
        del sessions[number]
    _observe()
