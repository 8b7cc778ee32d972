"""The page of releases has every change of CHANGELOG.md once, below its heading."""

import site_releases

TEXT = """# Changes

## 0.2.0

- Hopper: faster.
- A command ([all](docs/reference/command.md#explain)).

## 0.1.0

- Tileon: one.
- TileLang refuses another.
- Triton: two.
"""


def test_changes_go_below_their_headings():
    assert site_releases.page(TEXT).split("\n\n") == [
        "# Release notes",
        "## 0.2.0",
        "### All languages and machines",
        "- A command ([all](reference/command.md#explain)).",
        "### GPUs",
        "- Hopper: faster.",
        "## 0.1.0",
        "### Tileon and Triton",
        "- Tileon: one.\n- Triton: two.",
        "### TileLang",
        "- TileLang refuses another.\n",
    ]


def test_no_change_is_lost():
    text = site_releases.CHANGES.read_text()
    changes = [line.replace("](docs/", "](") for line in text.splitlines() if line.startswith("- ")]
    assert sorted(line for line in site_releases.page(text).splitlines() if line.startswith("- ")) == sorted(changes)
    assert all(line.startswith(("- ", "#")) or not line.strip() for line in text.splitlines())  # a change is a line
