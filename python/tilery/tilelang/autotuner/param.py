"""What a tuner is told, and what it finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.checks import amount, truth
from ...errors import error
from ...frontend.wording import shown
from ..utils.tensor import TensorSupplyType


@dataclass
class CompileArgs:
    """How configurations are compiled: the options of tilelang.compile."""

    out_idx: Any = None
    execution_backend: str = "auto"
    target: Any = "auto"
    target_host: Any = None
    verbose: bool = False
    pass_configs: dict[Any, Any] | None = None
    compile_flags: Any = None

    def options(self, pass_configs: dict[Any, Any] | None = None) -> dict[str, Any]:
        """The options for one configuration, whose own switches go before."""
        return {**vars(self), "pass_configs": {**(self.pass_configs or {}), **(pass_configs or {})}}


@dataclass
class ProfileArgs:
    """How configurations are timed and checked. Times are budgets in milliseconds, `timeout` seconds for one configuration."""

    warmup: float = 25
    rep: float = 100
    timeout: float = 30
    backend: str = "event"
    supply_type: TensorSupplyType = TensorSupplyType.Auto
    supply_prog: Callable[..., Any] | None = None
    ref_prog: Callable[..., Any] | None = None
    rtol: float = 1e-2
    atol: float = 1e-2
    max_mismatched_ratio: float = 0.01
    skip_check: bool = False
    manual_check_prog: Callable[..., Any] | None = None
    cache_input_tensors: bool = False
    early_stop: bool = True
    early_stop_factor: float = 2.0

    def check(self) -> None:
        """Refuses what a tuner cannot time with, when it is first asked: its decorator takes anything.

        :raises tilery.Error: a field holds what it cannot hold."""
        for name, unit in _AMOUNTS.items():
            amount(f"`{name}` of the tuner", getattr(self, name), unit)
        for name in ("supply_prog", "ref_prog", "manual_check_prog"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise error(TypeError, f"`{name}` of the tuner is {shown(function)}; a function is expected")
        for name in ("skip_check", "cache_input_tensors", "early_stop"):
            truth(f"`{name}` of the tuner", getattr(self, name))


_AMOUNTS = {
    "warmup": "milliseconds",
    "rep": "milliseconds",
    "timeout": "seconds",
    **dict.fromkeys(("rtol", "atol", "max_mismatched_ratio", "early_stop_factor"), ""),
}


@dataclass
class AutotuneResult:
    """The fastest configuration: `latency` and `ref_latency` in milliseconds."""

    latency: float | None = None
    config: dict[str, Any] | None = None
    ref_latency: float | None = None
    func: Any = None
    kernel: Any = None
    libcode: str | None = None
    latencies: dict[str, float] = field(default_factory=dict)

    def save_to_disk(self, path: str | Path, verbose: bool = False) -> None:
        """Writes what was found, but the code, into a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        found = {"config": self.config, "latency": self.latency, "ref_latency": self.ref_latency}
        staged = folder / "best_config.json.part"
        staged.write_text(json.dumps(found, default=str), encoding="utf-8")
        staged.replace(folder / "best_config.json")

    @classmethod
    def load_from_disk(cls, path: str | Path, compile_args: CompileArgs | None = None) -> AutotuneResult | None:
        """What save_to_disk wrote; None if there is nothing."""
        file = Path(path) / "best_config.json"
        return cls(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None
