"""The pages of the documentation: their blocks run, their links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest

ROOT = Path(__file__).parents[2]
RUN = [
    *sorted((ROOT / "docs" / "python").glob("*.md")),
    ROOT / "docs" / "inside_out.md",
    ROOT / "docs" / "coming_from_tensorflow.md",
]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run_and_print_what_it_says(page, tmp_path):
    done = subprocess.run(  # other modules that a page imports stay out of this process
        [sys.executable, pages.__file__, page],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ran, skipped = map(int, done.stdout.split())
    print(f"{page.name}: {ran} blocks ran, {skipped} need what is not there")
    if ran == 0 and skipped > 0:
        pytest.skip("all its blocks need what is not there")
    assert ran > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_to_files(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    files = [link.partition("#")[0] for link in links if "://" not in link]
    missing = [link for link in files if link and not (page.parent / link).exists()]
    assert missing == []


def test_blocks_are_found_with_lines_needs_and_output(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n```python\nx = 1\nprint(x)\n```\n\n```text\n1\n```\n\n"
        "<!-- needs: nothing_of_this_name -->\n```python\nbad bad\n```\n\n"
        "```cpp\nint x;\n```\n\n```python\n>>> x + 1\n2\n\n```\n"
    )
    first, second, third = pages.blocks_of(page)
    assert (first.line, first.output) == (4, "1\n")
    assert second.needs == ["nothing_of_this_name"]
    assert (third.line, third.output) == (22, None)
    assert pages.run(page, tmp_path) == (2, 1)


@pytest.mark.parametrize("wrong", ["print(2)\n```\n\n```text\n1", ">>> 1 + 1\n3\n", "1 / 0"])
def test_a_block_that_does_not_do_what_the_page_says_fails(tmp_path, wrong):
    page = tmp_path / "page.md"
    page.write_text(f"```python\n{wrong}\n```\n")
    with pytest.raises((AssertionError, ZeroDivisionError)):
        pages.run(page, tmp_path)
