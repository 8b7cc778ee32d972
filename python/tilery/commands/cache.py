"""The disk cache of compiled kernels, which all processes of a user share.

  info    where it lies, how much is in it, of which kind, and what bounds it
  clear   takes all entries away; the next processes compile anew. Files that are none of the cache's stay"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from ..frontend.wording import counted

# Kinds of entries, as `core.cache` and tuners name them.
MEANING = {
    "code": "machine code",
    "manifest": "which code a kernel has",
    "tuned": "what tuners chose",
    "checked": "programs that were found right",
    "roofline": "what a machine was measured to do",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("info", "clear"), metavar="info|clear", help="what to do")


def run(arguments: argparse.Namespace) -> int:
    from tilery import _native

    folder = _native.cache_folder()
    if not folder:
        print("the disk cache is off: TILERY_CACHE_DIR is empty")
        return 0
    return _clear(folder) if arguments.what == "clear" else _info(folder)


def size_of(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _info(folder: str) -> int:
    from tilery import _native

    entries = _native.cache_entries()
    sizes: Counter[str] = Counter()
    for kind, size, _ in entries:
        sizes[kind] += size
    print(f"folder   {folder}")
    bound = size_of(_native.cache_limit())
    print(f"size     {size_of(sizes.total())} in {counted(len(entries), 'file')}, of at most {bound} (TILERY_CACHE_MB)")
    for kind, size in sizes.most_common():
        count = sum(kind == other for other, _, _ in entries)
        print(f"  {kind or 'unfinished':9}{size_of(size):>12}{count:8}  {MEANING.get(kind, '')}".rstrip())
    if entries:
        oldest = (time.time() - min(used for _, _, used in entries)) / 86400
        print(f"oldest   used {oldest:.0f} days ago; what was not used for longest goes first")
    return 0


def _clear(folder: str) -> int:
    from tilery import _native

    before = _native.cache_entries()
    removed = _native.cache_clear()
    left = _native.cache_entries()
    size = sum(size for _, size, _ in before) - sum(size for _, size, _ in left)
    print(f"{removed} files, {size_of(max(size, 0))}, taken out of {folder}")
    if removed < len(before):
        print(f"tilery cache: {counted(len(before) - removed, 'file')} of {folder} could not be removed, or are being written")
        return 1
    return 0
