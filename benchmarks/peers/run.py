"""Speed on an NVIDIA GPU beside cuBLAS, Triton and TileLang, in interleaved rounds of one process.

usage: ./run peers [--list] [--write] [NAME ...]
Rivals that are not installed are left out.
"""

import argparse
import sys
import traceback
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))


def arguments():
    parser = argparse.ArgumentParser(prog="./run peers", description="speed on a GPU against other libraries")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to measure, or how their names begin (default: all)")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    return parser.parse_args()


def machine(torch):
    """What was measured on, with the rivals' versions."""
    from importlib import metadata

    from tilery import _native

    versions = [f"torch {torch.__version__}"]
    for name in ("triton", "tilelang"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    driver = int(_native.gpu_target(0).partition(":cuda")[2])
    versions.append(f"driver of CUDA {driver // 1000}.{driver % 1000 // 10}")
    return f"{torch.cuda.get_device_name()}, {', '.join(versions)}"


def measure(names, rows, show):
    """Results of the rows; one that fails does not stop the others."""
    import torch

    results, failed = [], []
    for name in names:
        torch.manual_seed(0)
        try:
            for result in rows[name]():
                results.append(result)
                show(result)
        except Exception:
            failed.append(name)
            traceback.print_exc()
        torch.cuda.empty_cache()
    return results, failed


def main():
    options = arguments()
    import attention
    import attention_backward
    import batches
    import decode
    import host
    import matmuls
    import memory
    import over_rows
    import products
    import shapes
    import spellings
    import table
    import torch

    modules = (matmuls, spellings, batches, shapes, products, attention, attention_backward, decode, over_rows, memory, host)
    rows = {name: row for module in modules for name, row in module.ROWS.items()}
    if options.list:
        print("\n".join(rows))
        return
    if not torch.cuda.is_available():
        sys.exit("run peers: this needs an NVIDIA GPU and a torch that sees it")
    names = [name for name in rows if not options.names or name.startswith(tuple(options.names))]
    if not names:
        sys.exit(f"run peers: no row {options.names[0]!r}; there are {', '.join(rows)}")
    what = machine(torch)
    print(what, flush=True)
    results, failed = measure(names, rows, lambda result: print(table.line(table.cells(result)), flush=True))
    table.show(results)
    if options.write:
        table.write("measured on a GPU", results, what, " ".join(["./run peers", *sys.argv[1:]]))
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


main()
