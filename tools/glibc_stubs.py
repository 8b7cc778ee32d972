"""Writes stubs of the C library's shared libraries as an older release had them, to link against: what is linked against them
runs on that release and all later ones.

usage: glibc_stubs.py VERSION COMPILER FOLDER

The C library keeps, for programs linked long ago, every version that a symbol ever had. A stub holds of each symbol the newest
version that is no newer than VERSION, and nothing of symbols that came later (python/binding/old_glibc.c defines those that
we need). Before 2.34 threads and dlopen were in libraries of their own, which are empty since: to be named as needed, too."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

LIBRARIES = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2")
DATA = "BDRV"  # how nm marks objects


def number(version):
    return tuple(map(int, version.split(".")))


def symbols_of(library, limit):
    """version -> [(symbol, whether it is an object)]"""
    newest = {}
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    for kind, name, version in re.findall(r"^\w+ (\w) (\w+)@@?GLIBC_([\d.]+)$", listing, re.M):
        if number(version) <= limit and number(version) >= number(newest.get(name, ("0",))[0]):
            newest[name] = version, kind.upper() in DATA
    versions = defaultdict(list)
    for name, (version, is_object) in newest.items():
        versions[version].append((name, is_object))
    return versions


def write_stub(library, versions, compiler, folder):
    name = Path(library).name
    source, script = folder / f"{name}.s", folder / f"{name}.map"
    with source.open("w") as file:
        for symbol, is_object in sorted(sum(versions.values(), [])):
            section, kind = (".data", "object") if is_object else (".text", "function")
            file.write(f"{section}\n.globl {symbol}\n.type {symbol}, @{kind}\n{symbol}: .zero 8\n.size {symbol}, 8\n")
    nodes = [f"GLIBC_{version} {{ {' '.join(f'{symbol};' for symbol, _ in versions[version])} }};" for version in versions]
    script.write_text("\n".join(nodes) + "\n")
    options = ["-shared", "-nostdlib", "-fuse-ld=lld", f"-Wl,--soname={name},--version-script={script}"]
    subprocess.run([compiler, *options, source, "-o", folder / name], check=True)


def main():
    version, compiler, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for name in LIBRARIES:
        found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        write_stub(found, symbols_of(found, number(version)), compiler, folder)


main()
