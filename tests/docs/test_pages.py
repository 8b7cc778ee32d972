"""Every program on a page of docs/ runs and prints what the page says."""

import os
from pathlib import Path

import installed
import pytest
import site_pages as pages

BUILD = Path(os.environ.get("TILERY_BUILD_DIR", "nowhere"))
PROGRAMS = {str(path.relative_to(pages.ROOT)): blocks for path in pages.PAGES if (blocks := pages.blocks_of(path))}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """What C and C++ programs are built with, as `cmake --install` puts it."""
    if not (BUILD / "libtilery.so").exists():
        pytest.skip("needs a finished build: ./run build")
    folder = tmp_path_factory.mktemp("prefix")
    installed.run("/usr/bin/cmake", "--install", BUILD, "--prefix", folder, "--strip")
    return folder


def run_in(folder, blocks, environment):
    folder.mkdir()
    return pages.run_page(blocks, folder, environment)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_page(name, tmp_path, request):
    blocks = PROGRAMS[name]
    needs_prefix = any("PREFIX" in block.text or "--prefix" in block.text for block in blocks if block.language == "sh")
    found = request.getfixturevalue("prefix") if needs_prefix else tmp_path / "nowhere"
    try:
        printed = run_in(tmp_path / "page", blocks, pages.environment_in(tmp_path, found))
    except AssertionError as wrong:
        if "terminate called without an active exception" not in str(wrong):
            raise
        # Processes of torch.distributed now and then end so: a thread of gloo's lets go of its last tensor while Python ends, and
        # Python ends the thread through code that must not be unwound. It comes once in some fifty runs on a busy machine.
        printed = run_in(tmp_path / "again", blocks, pages.environment_in(tmp_path, found))
    assert not pages.not_printed(blocks, printed), printed


def test_what_a_page_says_must_be_printed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        '# Page\n\n```python title="one.py"\nprint("file", 1)\n```\n```sh\npython one.py\n```\n```text\nfile 1\n```\n'
        '```python\nx = 2\n```\nthen\n```python\nprint("program", x)\n```\n'
        "```text\nprog...2\nmissing\n```\n```console\nfalse\n```\n"
    )
    blocks = pages.blocks_of(page)
    printed = pages.run_page(blocks, tmp_path, pages.environment_in(tmp_path, tmp_path))
    assert printed == "file 1\nprogram 2\n"
    assert pages.not_printed(blocks, printed) == ["missing"]
    page.write_text("```sh\necho before; false\n```\n")
    with pytest.raises(AssertionError, match="before"):
        pages.run_page(pages.blocks_of(page), tmp_path, dict(os.environ))
