"""Configurations whose launches run the same code: one of them is compiled and timed for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core import cache
from .candidates import option_meaning
from .surveys import Survey, Surveys


class Twins:
    """Finds for each configuration one that was looked at earlier and has the same code: the same IR, but for hints that the
    earlier one's code does not depend on. What was found is remembered on disk: IR is traced for it.

    :param kernel: what launches are asked of.
    """

    def __init__(self, kernel: Any, configs: Sequence[Any], surveys: Surveys) -> None:
        self.kernel, self.configs, self.surveys = kernel, configs, surveys
        self.own: dict[Any, list[Any]] = {}  # those that have no twin, by what all of a kind have in common
        self.keys: dict[Any, Any] = {}
        self.ignored: dict[Any, Sequence[str] | None] = {}
        self.memory = self._described()
        kept = self.memory and cache.recall("twins", surveys.kernel.fn, self.memory)
        self.known = {c: configs[int(i)] for c, i in zip(configs, kept.split())} if kept else {}

    def earlier(self, config: Any) -> Any:
        """The configuration itself where there is no earlier one with its code."""
        found = self._found(config)
        if found is None:
            self.own.setdefault(self._key(config), []).append(config)
        return config if found is None else found

    def remember(self) -> None:
        """For other processes, once all have been looked at."""
        if self.memory and not self.known:
            numbers = [self.configs.index(self.earlier(config)) for config in self.configs]
            cache.keep("twins", self.surveys.kernel.fn, self.memory, " ".join(map(str, numbers)).encode())

    def _described(self) -> list[Any] | None:
        """All that decides; None: it is not known."""
        surveys = [self.surveys.of(config) for config in self.configs]
        hooks = [config.pre_hook for config in self.configs]
        found: list[Any] = []
        for config, survey in zip(self.configs, surveys):
            if survey is None:
                return None
            compiled = survey.compiled
            found.append([compiled.specialisation, _beside(config, survey), hooks.index(config.pre_hook)])
        return [cache.target_of(surveys[0].compiled.device), *found] if surveys[0] else None

    def rounds(self) -> Iterator[list[Any]]:
        """All that have no twin, some at a time: those of a later round depend on what the code of earlier ones is."""
        if self.known:
            yield list(dict.fromkeys(self.known.values()))
            return
        left = list(self.configs)
        while left:
            some: dict[Any, Any] = {}
            for config in left:
                some.setdefault(self._kind(config), config)
            yield [self.earlier(config) for config in some.values()]
            left = [config for config in left if self._found(config) is None]

    def _found(self, config: Any) -> Any:
        if self.known:
            return self.known[config]
        alike = self.own.get(self._key(config), ())
        return next((other for other in alike if other == config or self._same(other, config)), None)

    def _key(self, config: Any) -> Any:
        """What those have in common that differ in nothing but hints."""
        if config not in self.keys:
            survey = self.surveys.of(config)
            self.keys[config] = (survey.ir, _beside(config, survey), config.pre_hook) if survey and survey.ir else config
        return self.keys[config]

    def _kind(self, config: Any) -> Any:
        """What those have in common of which one is compiled in each round: its image says which hints its code ignores."""
        key = self._key(config)
        alike = self.own.get(key)
        return (key, self._text(config, self._ignored(alike[0]) or ())) if alike else key

    def _same(self, other: Any, config: Any) -> bool:
        """Of two that differ in nothing but hints: do they not differ in those that code depends on?"""
        if self._text(other, ()) == self._text(config, ()):
            return True
        ignored = self._ignored(other)
        return ignored is not None and self._text(other, ignored) == self._text(config, ignored)

    def _text(self, config: Any, without: Sequence[str]) -> str:
        compiled = self._compiled(config)
        text: str = compiled.module.text(hints=[hint for hint in compiled.possible_hints if hint not in without])
        return text

    def _compiled(self, config: Any) -> Any:
        survey = self.surveys.of(config)
        assert survey
        return survey.compiled

    def _ignored(self, config: Any) -> Sequence[str] | None:
        """Names of the hints that the code of a configuration, which has been compiled, does not depend on. None: it has none."""
        if config not in self.ignored:
            call = {**self.surveys.kwargs, **config.all_kwargs()}
            try:
                self.ignored[config] = self.kernel.run(*self.surveys.args, grid=(1,), warmup=True, **call).ignored_hints
            except Exception:  # its launch says what is wrong
                self.ignored[config] = None
        return self.ignored[config]


def _beside(config: Any, survey: Survey) -> tuple[Any, ...]:
    """What decides beside the IR."""
    compiled = survey.compiled
    how = compiled.debug, *sorted(compiled.options.items())
    return how, option_meaning(config, compiled.jit_function.arg_names), survey.extents, survey.values
