"""docs/reference/machines.md lists the files that another machine touches outside of its folders: few, and all of them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "machines.md"
MOST = 12
GPU, FORM = "A GPU of another kind", "Another form of product"


def listed(heading):
    (part,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    return re.findall(r"^\| `([\w./]+)` \| .+ \|$", part, re.M)


def sources(*own):
    """The C++ sources outside of these folders, without comments, by path."""
    for top in ("compiler", "include", "runtime", "python/binding"):
        for file in sorted((ROOT / top).rglob("*")):
            path = str(file.relative_to(ROOT))
            if file.suffix in (".h", ".cpp") and not path.startswith(own):
                yield path, re.sub(r"//[^\n]*", "", file.read_text())


def naming(pattern, *own):
    return {path for path, text in sources(*own) if re.search(pattern, text)}


@pytest.mark.parametrize("heading", [GPU, FORM])
def test_the_list_is_short_and_of_files(heading):
    files = listed(heading)
    assert 0 < len(files) == len(set(files)) <= MOST
    assert not [file for file in files if not (ROOT / file).is_file()]


def test_no_other_source_knows_which_gpu_there_is():
    """What includes a GPU's folders, spells their namespace, or tells tensors' devices apart by DLPack's number."""
    found = naming(r'#include "[\w/]*/cuda/|\bcuda::', "compiler/targets/cuda/", "runtime/cuda/")
    devices = naming(r"\bkind [!=]= 2\b|Device\{2", "compiler/", "include/", "runtime/")
    assert len(found) >= 6 and len(devices) == 2
    assert found | devices <= set(listed(GPU)), sorted((found | devices) - set(listed(GPU)))


def test_no_other_source_names_a_form():
    found = naming(r"\b(?:warpgroupForm|warpForm)\(", "compiler/block/forms/")
    assert len(found) > 2 and found <= set(listed(FORM)), sorted(found - set(listed(FORM)))
