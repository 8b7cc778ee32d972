"""Profiles read back (NAME.hatchet): sums over scopes and rates, as a tree of text.
`python -m tilery.tileon.profiler.viewer -m time/ms,count NAME.hatchet` prints one, as upstream's proton-viewer does."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import Error, error

_NANOSECONDS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_RATE = re.compile(r"([gt]?)(?:(flop)s?(8|16|32|64)?|byte)/s")
_SCALE = {"": 1.0, "g": 1e9, "t": 1e12}


@dataclass
class Tree:
    """A scope or kernel: its metrics with those of all below it."""

    name: str
    metrics: dict[str, float]
    children: list[Tree]


def _sums(node: dict[str, Any], keep: Callable[[str], bool]) -> Tree:
    children = [_sums(child, keep) for child in node["children"] if keep(child["frame"]["name"])]
    sums = {key: value for key, value in node["metrics"].items() if isinstance(value, (int, float))}
    for child in children:
        for key, value in child.metrics.items():
            sums[key] = sums.get(key, 0) + value
    return Tree(node["frame"]["name"], sums, children)


def _value(metrics: dict[str, float], metric: str) -> float:
    """A metric by the name that it is asked for by: time/ms, avg_time/us, tflop16/s, gbyte/s, count, or one of the program's."""
    what, _, unit = metric.partition("/")
    spent = metrics.get("time (ns)", 0)
    if what in ("time", "avg_time") and unit in _NANOSECONDS:
        return spent / _NANOSECONDS[unit] / (1 if what == "time" else max(metrics.get("count", 0), 1))
    rate = _RATE.fullmatch(metric)
    if rate:
        scale, flops, bits = rate.groups()
        key = f"flops{bits or ''}" if flops else "bytes"
        work = sum(v for k, v in metrics.items() if k == key or flops and not bits and k.startswith("flops"))
        return work / _SCALE[scale] / (spent / 1e9) if spent else 0.0
    return metrics.get(metric, 0.0)


def parse(
    metrics: Sequence[str], filename: str, include: str | None = None, exclude: str | None = None, threshold: float | None = None
) -> tuple[Tree, list[str]]:
    """(tree, the metrics' names) of a file that `finalize` wrote.

    :param metrics: "time/s" (ms, us, ns), "avg_time/ms", "tflop16/s" (t, g or nothing; 8, 16, 32, 64 or all), "gbyte/s", "count",
        and names that the program gave to scopes.
    :param include, exclude: regular expressions: which scopes and kernels are kept.
    :param threshold: of the first metric, the share of the whole that is worth a line.
    :raises tilery.ValueError: the profile has no such metric."""
    with open(filename, encoding="utf-8") as file:
        root = json.load(file)[0]
    tree = _sums(root, lambda name: not (exclude and re.search(exclude, name)))
    known = {*tree.metrics, *(f"{kind}/{unit}" for kind in ("time", "avg_time") for unit in _NANOSECONDS)}
    for metric in metrics:
        if metric not in known and not _RATE.fullmatch(metric):
            raise error(ValueError, f"the profile has no metric {metric!r}", hint="it has " + ", ".join(sorted(known)))
    least = (threshold or 0.0) * _value(tree.metrics, metrics[0])

    def kept(node: Tree, inside: bool) -> Iterator[Tree]:
        inside = inside or include is None or re.search(include, node.name) is not None
        children = [below for child in node.children for below in kept(child, inside)]
        if (inside or children) and _value(node.metrics, metrics[0]) >= least:
            yield Tree(node.name, node.metrics, children)

    children = [below for child in tree.children for below in kept(child, False)]
    return Tree(tree.name, tree.metrics, children), list(metrics)


# What is left of a name like "folder/file.py:function@12".
_FORMATS: dict[str | None, Callable[[str], str]] = {
    None: lambda name: name,
    "full": lambda name: name,
    "file_function_line": lambda name: name.rpartition("/")[2],
    "function_line": lambda name: name.rpartition(":")[2],
    "file_function": lambda name: name.rpartition("/")[2].partition("@")[0],
}


def print_tree(
    tree: Tree, metrics: Sequence[str], depth: int = 100, format: str | None = None, print_sorted: bool = False
) -> None:
    """Prints a line for each scope and kernel: its metrics and its name. print_sorted: the greatest first.

    :param format: how much of a name that says a file and a line: "full", "file_function_line", "function_line", "file_function".
    :raises tilery.ValueError: another format."""
    if format not in _FORMATS:
        known = ", ".join(name for name in _FORMATS if name)
        raise error(ValueError, f"print_tree knows no format {format!r}", hint=f"known: {known}")
    named = _FORMATS[format]

    def show(node: Tree, head: str, tail: str, level: int) -> None:
        print(head + " ".join(f"{_value(node.metrics, metric):.3f}" for metric in metrics), named(node.name))
        children = node.children if level < depth else []
        if print_sorted:
            children = sorted(children, key=lambda child: -_value(child.metrics, metrics[0]))
        for child in children:
            last = child is children[-1]
            show(child, tail + ("└─ " if last else "├─ "), tail + ("   " if last else "│  "), level + 1)

    show(tree, "", "", 0)


def main(arguments: Sequence[str] | None = None) -> None:
    """The program: prints a profile."""
    parser = argparse.ArgumentParser(prog="proton-viewer", description="Prints a profile that proton.finalize wrote.")
    parser.add_argument("filename", metavar="NAME.hatchet")
    parser.add_argument("-l", "--list", action="store_true", help="the names of the profile's metrics, and nothing else")
    parser.add_argument("-m", "--metrics", default="time/ms", help="with commas: time/s, avg_time/us, tflop16/s, ...")
    parser.add_argument("-i", "--include", metavar="EXPRESSION", help="scopes and kernels that are kept")
    parser.add_argument("-e", "--exclude", metavar="EXPRESSION", help="scopes and kernels that are left out")
    parser.add_argument("-t", "--threshold", type=float, help="the share of the first metric's whole that is worth a line")
    parser.add_argument("-d", "--depth", type=int, default=100, help="scopes below each other that are shown")
    parser.add_argument("-f", "--format", choices=[name for name in _FORMATS if name], help="how much of a name is shown")
    parser.add_argument("--print-sorted", action="store_true", help="the greatest first")
    given = parser.parse_args(arguments)
    metrics = [] if given.list else given.metrics.split(",")
    try:
        tree, names = parse(metrics or ["count"], given.filename, given.include, given.exclude, given.threshold)
        if given.list:
            print("\n".join(sorted(tree.metrics)))
        else:
            print_tree(tree, names, given.depth, given.format, given.print_sorted)
    except (Error, OSError) as wrong:
        parser.exit(1, f"proton-viewer: {wrong}\n")


if __name__ == "__main__":
    main()
