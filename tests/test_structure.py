"""The graph of includes and imports: no edge upwards, no circle. What breaks this today is listed; the lists may only shrink."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# From the lowest. A file belongs to the longest path that it lies under; files of one layer may include each other.
CPP = [
    ["compiler/pch.h", "include/tilery"],
    ["compiler/ir", "compiler/layout", "compiler/analysis", "compiler/source_chain", "compiler/progress"]
    + ["compiler/explain"],
    ["compiler/block/forms"],
    ["compiler/block/ir"],
    ["compiler/builder", "include/tilery/builder.h", "include/tilery/region.h", "include/tilery/module.h"]
    + ["compiler/arrange", "include/tilery/arrange.h", "include/tilery/arrange_ir.h"]
    + ["compiler/oracle", "compiler/barriers"],
    ["compiler/functions", "include/tilery/functions.h"],
    ["compiler/foreign", "include/tilery/inline_asm.h", "include/tilery/cuda_text.h"],
    ["compiler/passes"],
    ["compiler/lower"],
    ["compiler/block/recognise", "compiler/count"],
    ["compiler/block/price"],
    ["compiler/block/passes"],
    ["compiler/targets/cuda/ptx"],
    ["compiler/targets/cuda/mma"],
    ["compiler/targets/cuda/simt", "compiler/targets/cuda/block"],
    ["compiler/targets", "include/tilery/compile.h"],
    ["compiler", "include/tilery/block_sizes.h"],  # the driver
    ["compiler/language", "include/tilery/language.h"],
    ["python/binding", "tools", "tests"],
]
# Beside these layers: the runtime, which programs compiled ahead of time link alone.
RUNTIME = [["runtime"]]
PYTHON = [
    ["python/tilery/__init__.py", "python/tilery/errors.py"],
    ["python/tilery/frontend"],
    ["python/tilery/core"],
    ["python/tilery/aot"],
    ["python/tilery/tileon", "python/tilery/ninetoothed", "python/tilery/tilelang"],
    ["python/tilery"],  # compat, commands, cli
]
LANGUAGES = PYTHON[4]
TARGETS = [str(folder.relative_to(ROOT)) for folder in sorted((ROOT / "compiler" / "targets").iterdir()) if folder.is_dir()]

# The two ways of a kernel on a GPU, which share what lies below both.
WAYS_OF_KERNELS = ["compiler/targets/cuda/simt", "compiler/targets/cuda/block"]

# (file, what it includes) that stands against the layers today.
UPWARDS = set()
BETWEEN_TARGETS = set()
NAMING_TARGETS = set()
FROM_RUNTIME = set()
UPWARDS_IN_PYTHON = set()
BETWEEN_LANGUAGES = set()
CIRCLES = set()  # the sorted files of each circle
CIRCLES_OF_FOLDERS = set()
CIRCLES_IN_PYTHON = set()


def layer(path, layers):
    """The number of the layer with the longest prefix of `path`."""
    fits = [(len(prefix), number) for number, prefixes in enumerate(layers) for prefix in prefixes if lies_under(path, prefix)]
    return max(fits)[1] if fits else None


def lies_under(path, prefix):
    return path == prefix or path.startswith((prefix + "/", prefix + "."))


# ---- C++


def includes():
    """{file: the project's files it includes}, as paths from the root."""
    graph = {}
    for top in ("compiler", "include", "runtime", "python/binding", "tools", "tests"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix in (".h", ".cpp"):
                named = re.findall(r'^#include "([^"]+)"', file.read_text(), re.M)
                graph[str(file.relative_to(ROOT))] = {found for name in named if (found := included(file, name))}
    return graph


def included(file, name):
    for path in (file.parent / name, ROOT / name, ROOT / "include" / name):
        if path.exists():
            return str(path.relative_to(ROOT))
    return None  # LLVM's, or generated


# ---- Python


def imports():
    """{file: the package's files it imports, inside functions, too}."""
    package = ROOT / "python" / "tilery"
    return {
        str(file.relative_to(ROOT)): {str(target.relative_to(ROOT)) for target in imported(file, package.parent)} - {str(file)}
        for file in sorted(package.rglob("*.py"))
    }


def imported(file, top):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield from filter(None, [module(top, name.name)])
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(file.relative_to(top).parts[: -node.level]) if node.level else ""
            base = ".".join(filter(None, [package, node.module]))
            for name in node.names:
                yield from filter(None, [module(top, f"{base}.{name.name}") or module(top, base)])


def module(top, name):
    path = top.joinpath(*name.split("."))
    return next((p for p in (path.with_suffix(".py"), path / "__init__.py") if p.exists()), None)


# ---- checks


def upwards(graph, layers):
    found = set()
    for file, targets in graph.items():
        for target in targets:
            low, high = layer(file, layers), layer(target, layers)
            if low is not None and high is not None and low < high:
                found.add((file, target))
    return found


def circles(graph):
    """The strongly connected components of more than one file (Tarjan's algorithm, without recursion), each as a sorted tuple."""
    order, low, stack, found = {}, {}, [], set()

    def visit(root):
        path = [(root, iter(graph.get(root, ())))]
        order[root] = low[root] = len(order)
        stack.append(root)
        while path:
            node, rest = path[-1]
            for target in rest:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    path.append((target, iter(graph.get(target, ()))))
                    break
                if target in stack:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    if len(stack) - at > 1:
                        found.add(tuple(sorted(stack[at:])))
                    del stack[at:]

    for node in graph:
        if node not in order:
            visit(node)
    return found


def folders(graph):
    """The same graph between folders."""
    merged = defaultdict(set)
    for file, targets in graph.items():
        merged[str(Path(file).parent)] |= {str(Path(target).parent) for target in targets} - {str(Path(file).parent)}
    return merged


def between(graph, places):
    """The edges from one of `places` to another one."""

    def place(file):
        return next((prefix for prefix in places if lies_under(file, prefix)), None)

    edges = {(file, target) for file, targets in graph.items() for target in targets}
    return {(file, target) for file, target in edges if None not in (place(file), place(target)) and place(file) != place(target)}


def agree(found, listed, what):
    """What is found is what is listed: nothing new, and nothing that is mended already."""
    assert not found - listed, f"new {what}: {sorted(found - listed)}"
    assert not listed - found, f"mended, take it off the list of {what}: {sorted(listed - found)}"


def test_includes_go_downwards():
    agree(upwards(includes(), CPP), UPWARDS, "includes upwards")


def test_folders_with_rooms_hold_nothing_else():
    """What is new belongs to a room; the driver of the target alone stands beside them."""
    assert not [*(ROOT / "compiler/block").glob("*.*")]
    beside = {file.stem for file in (ROOT / "compiler/targets/cuda").glob("*.*")}
    assert beside == {"backend", "block_sizes", "cuda", "round_sums"}


def test_every_source_has_a_layer():
    assert not [file for file in includes() if layer(file, CPP) is None and layer(file, RUNTIME) is None]
    assert not [file for file in imports() if layer(file, PYTHON) is None]


def test_the_runtime_includes_its_own_and_the_lowest_public_headers():
    found = set()
    for file, targets in includes().items():
        if layer(file, RUNTIME) is not None:
            found |= {(file, target) for target in targets if layer(target, RUNTIME) is None and layer(target, CPP) != 0}
    agree(found, FROM_RUNTIME, "includes of the runtime")


def test_the_compiler_includes_nothing_of_the_runtime():
    sources = {file: targets for file, targets in includes().items() if file.startswith(("compiler/", "include/"))}
    assert not [(f, t) for f, targets in sources.items() for t in targets if layer(t, RUNTIME) is not None]


def test_headers_include_each_other_in_no_circle():
    agree(circles(includes()), CIRCLES, "circles")


def test_folders_of_the_compiler_include_each_other_in_no_circle():
    graph = folders({file: targets for file, targets in includes().items() if file.startswith("compiler/")})
    del graph["compiler"]  # its files stand at both ends: the precompiled header, the driver
    found = circles({folder: targets - {"compiler"} for folder, targets in graph.items()})
    agree(found, CIRCLES_OF_FOLDERS, "circles of folders")


def test_no_target_includes_another():
    agree(between(includes(), TARGETS), BETWEEN_TARGETS, "includes between targets")


def test_neither_way_of_a_kernel_includes_the_other():
    assert not between(includes(), WAYS_OF_KERNELS)


def test_only_the_list_of_targets_names_them():
    spelled = re.compile(r"\b(%s)::" % "|".join(Path(folder).name for folder in TARGETS))
    found = set()
    for file, targets in includes().items():
        if file.startswith("tests/") or file == "compiler/backends.cpp" or lies_under(file, "compiler/targets"):
            continue
        found |= {(file, target) for target in targets for folder in TARGETS if lies_under(target, folder)}
        if file.startswith("compiler/"):  # the runtime has namespaces of the same names
            found |= {(file, name) for name in spelled.findall((ROOT / file).read_text())}
    agree(found, NAMING_TARGETS, "places that name a target")


def test_imports_go_downwards():
    agree(upwards(imports(), PYTHON), UPWARDS_IN_PYTHON, "imports upwards")


def test_no_language_imports_another():
    agree(between(imports(), LANGUAGES), BETWEEN_LANGUAGES, "imports between languages")


def test_modules_import_each_other_in_no_circle():
    agree(circles(imports()), CIRCLES_IN_PYTHON, "circles")


def test_environment_variables_are_read_in_one_place():
    """Those of Tilery, so that a text that one does not take is refused; and each has its row in the table."""
    known = set(re.findall(r'^    \{"(TILERY_\w+)"', (ROOT / "runtime/environment.cpp").read_text(), re.M))
    own = re.compile(r"""(?:getenv\(|environ\[|environ\.get\()["']TILERY_""")
    named = re.compile(r"""(?:env\(|environ\[|environ\.get\(|[tT]ext\(|[sS]witch\(|environmentNumber\()["'](TILERY_[A-Z_]+)""")
    early = "python/tilery/compat"  # decides before the native module is there, and asks that where the variable is set
    misspelt = {"tests/runtime/test_environment.py", "tests/unit/runtime/environment_test.cpp"}
    for top in ("compiler", "runtime", "include", "python", "tests", "tools", "benchmarks", "examples"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix in (".h", ".cpp", ".py"):
                text, path = file.read_text(), str(file.relative_to(ROOT))
                assert set(named.findall(text)) <= known or path in misspelt, path
                if top in ("compiler", "runtime", "include", "python") and not lies_under(path, early):
                    assert not own.search(text), path


# ---- the checks themselves


@pytest.mark.parametrize(
    "graph, wanted",
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, set()),
        ({"a": {"b"}, "b": {"a"}}, {("a", "b")}),
        ({"a": {"b", "d"}, "b": {"c"}, "c": {"b"}, "d": {"e"}, "e": {"f"}, "f": {"d", "a"}}, {("a", "d", "e", "f"), ("b", "c")}),
    ],
)
def test_circles(graph, wanted):
    assert circles(graph) == wanted


def test_upwards():
    layers = [["low"], ["high", "low/special.h"]]
    graph = {"low/a.h": {"low/b.h", "low/special.h", "high/c.h"}, "high/c.h": {"low/a.h", "high/d.h"}}
    assert upwards(graph, layers) == {("low/a.h", "low/special.h"), ("low/a.h", "high/c.h")}


def test_imports_inside_functions_and_relative_ones_are_found(tmp_path):
    package = tmp_path / "tilery" / "part"
    package.mkdir(parents=True)
    for name in ("__init__", "one", "two", "three", "four"):
        (package / f"{name}.py").write_text("")
    text = "import tilery.part.two\ndef f():\n    from . import three\n    from .four import x\n    import os\n"
    (package / "one.py").write_text(text)
    assert {p.stem for p in imported(package / "one.py", tmp_path)} == {"two", "three", "four"}


def test_errors_for_every_language_are_in_the_words_of_none():
    """What the builder and the runtime tell C++ and C callers, too, takes its spellings from `spelling()`."""
    words = re.compile(r"\btl\.|\.to\(|\[:, None\]|\bTrue\b|\bNone\b|=True|\.item\(\)|program_id|num_programs")
    found = []
    for folder in ("compiler/builder", "compiler/language", "compiler/foreign", "runtime"):
        for file in sorted((ROOT / folder).rglob("*.cpp")):
            code = re.sub(r"//[^\n]*", "", file.read_text())
            texts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', code)
            found += [f"{file.relative_to(ROOT)}: {text}" for text in texts if words.search(text) and file.name not in PYTHONS]
    assert not found, "\n".join(found)


PYTHONS = {"spelling.cpp", "print.cpp"}  # how to check a kernel from Python; what device_print prints

# Where the C++ sources may say what one architecture is: the CPU target, and the runtime's few words about its own process.
ARCHITECTURES = {"runtime/cpu_features.cpp", "runtime/processor.h", "runtime/relocations.cpp", "runtime/relocations.h"}
OF_X86 = r"x86|X86|mmintrin|cpuid|mxcsr|_mm\d*_|__builtin_ia32|\b[xyz]mm\d|AVX|\bavx|REG_RIP|\bgregs"
OF_ARM = r"__aarch64__|AARCH64|AArch64|aarch64|NEON|\bneon|fpcr"


def test_only_targets_know_what_a_processor_is():
    found = set()
    for file in includes():
        if file.startswith(("compiler/", "runtime/")) and not file.startswith("compiler/targets/cpu/"):
            code = re.sub(r"//[^\n]*", "", (ROOT / file).read_text())  # comments may say why
            if re.search(f"{OF_X86}|{OF_ARM}", code):
                found.add(file)
    agree(found, ARCHITECTURES, "sources that know one architecture")


# Where the C++ sources may say what one kind of GPU is: targets, block IR's forms, and what reads the CUDA that programs bring.
GPUS_OWN = ("compiler/targets/", "compiler/block/forms/", "compiler/foreign/")
OF_GPUS = r"[Hh]opper|\bsm_\d|wgmma|ldmatrix|stmatrix|mbarrier|cp_async|mma_sync|tcgen|mfma|setmaxnreg"
NAMING_GPUS = {"compiler/block/ir/gpu.cpp"}  # why there are no boxes, in users' words
OF_LANES = (
    r"(?:[Ll]ane|[Ww]arp)\w*(?:\(\))? *(?:[=*/%<]|[=<]=) *3[12]\b"
    r"|\b32\.? *\* *(?:\w+\.)?(?:\w*[Ww]arp|consumers|lanes)"
    r"|[tT]hread\w*(?:\(\))? *% *3[12]\b"
)
NAMING_LANES = {"compiler/block/ir/gpu.h", "compiler/ir/warp.h"}  # each once: a machine's; those of programs


def test_only_targets_and_forms_know_what_a_gpu_is():
    found = {"gpu": set(), "lanes": set()}
    for file in sorted([*(ROOT / "compiler").rglob("*.h"), *(ROOT / "compiler").rglob("*.cpp")]):
        path = str(file.relative_to(ROOT))
        if path.startswith(GPUS_OWN):
            continue
        code = re.sub(r"//[^\n]*", "", file.read_text())  # comments may say why
        for what, names in (("gpu", OF_GPUS), ("lanes", OF_LANES)):
            if re.search(names, code):
                found[what].add(path)
    agree(found["gpu"], NAMING_GPUS, "sources that name one GPU or its instructions")
    agree(found["lanes"], NAMING_LANES, "sources that count a warp's lanes themselves")
