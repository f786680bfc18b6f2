"""Explanations as text, JSON and a page."""

import html.parser
import json
import re

import numpy as np
import pytest

import lanewise as lw


def _halvings(x):
    n = 0
    while x > 1:
        x = x * 0.5
        n += 1
    return n


@pytest.fixture(scope="module")
def explained():
    f = lw.vectorize(_halvings, name="halvings", compile="now", threads=2)
    x = np.linspace(1, 1e6, 300_000)
    f(x)
    f(x)
    return f.explain(x)


def test_the_first_lines_say_why_it_takes_so_long(explained):
    assert 1 <= len(explained.answer) <= 3
    lines = str(explained).splitlines()
    assert lines[0] == f"halvings: {explained.answer[0]}"
    assert [line.strip() for line in lines[1 : len(explained.answer)]] == explained.answer[1:]
    assert lines[len(explained.answer)].startswith("  schedule  ")
    assert re.search(r"[\d.]+ ms for 300000 elements, [\d.]+ ns each", explained.answer[1])


def test_json_has_all_of_it(explained):
    data = json.loads(explained.json())
    assert data == explained.to_dict()
    assert data["name"] == "halvings"
    assert data["answer"] == explained.answer
    assert data["schedule"]["lanes"] == explained.lanes
    assert data["schedule"]["reason"] == explained.reason
    assert {c["what"] for c in data["considered"]} == {"packets", "refill"}
    assert sum(c["chosen"] for c in data["considered"]) == 1
    assert all(c["ns"] > 0 for c in data["considered"])
    assert data["trips"]["samples"] == sum(data["trips"]["histogram"])
    assert 10 < data["trips"]["mean"] <= data["trips"]["most"] <= 21
    assert sum(share["elements"] for share in data["last_run"]["shares"]) == 300_000
    assert len(data["last_run"]["shares"]) == data["last_run"]["workers"]
    assert 0 < data["last_run"]["seconds"] < 60
    assert data["last_run"]["peak_bytes"] <= data["last_run"]["scratch_bytes"]
    memory = data["last_run"]["memory"]
    assert memory[0]["seconds"] == 0
    assert [use["seconds"] for use in memory] == sorted(use["seconds"] for use in memory)
    assert memory[-1]["bytes"] == data["last_run"]["peak_bytes"]
    assert data["roofline"]["flops"] > 0
    assert data["budget_bytes"] > 0


def test_lines_have_their_share_and_text(explained):
    lines = explained.to_dict()["lines"]
    assert 0.99 < sum(line["estimated_share"] for line in lines) <= 1.0001
    texts = {line["text"] for line in lines}
    assert "x = x * 0.5" in texts
    assert all(line["file"].endswith("test_explain.py") for line in lines)


class _Page(html.parser.HTMLParser):
    """Checks that what is opened is closed, and that nothing comes from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.titles, self.addresses = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br", "path", "circle"):
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag not in ("path", "circle"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)


def test_the_page_is_whole_and_needs_nothing(explained, tmp_path):
    explained.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == explained.html()
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert page.addresses == []
    assert "<script" not in text
    assert "http" not in text
    for title in (
        "Schedule",
        "The last run",
        "Steps of loops",
        "Lanes over time",
        "Memory",
        "Compiling",
        "Program",
    ):
        assert title in page.titles
    assert "<svg" in text


def test_memory_over_time_is_shown_beside_a_budget_that_is_near():
    f = lw.vectorize(_halvings, compile="never", threads=1)
    x = np.linspace(1, 1e6, 100_000)[::2]
    f(x)
    page = f.explain(x).html()
    assert "Over the time of the last run, far below the budget" in page
    budget = 2 * f.explain(x).projected_bytes
    f(x, memory=budget)
    page = f.explain(x, memory=budget).html()
    assert "Over the time of the last run, with the budget (dashed)" in page
    assert 'class="limit"' in page


def test_names_and_programs_are_escaped():
    f = lw.vectorize(lambda x: x < 1, name="<b>&")
    page = f.explain(np.zeros(3)).html()
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page


def test_saving_json_goes_by_the_name(explained, tmp_path):
    explained.save(str(tmp_path / "data.json"))
    assert json.loads((tmp_path / "data.json").read_text()) == explained.to_dict()
    with pytest.raises(OSError, match="nowhere"):
        explained.save(tmp_path / "nowhere" / "page.html")


def test_a_notebook_shows_the_page_in_a_frame(explained):
    shown = explained._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "&lt;!DOCTYPE html&gt;" in shown


def test_before_a_run_it_says_so():
    f = lw.vectorize(lambda x: x * 5, name="unrun", compile="never")
    e = f.explain(np.zeros(10))
    assert e.answer[0].startswith("not run yet")
    assert e.to_dict()["last_run"] is None
    assert e.to_dict()["roofline"] is None


def test_what_lanes_do_one_after_the_other_is_named():
    def notes(function, *arrays):
        return lw.vectorize(function).explain(*arrays).to_dict()["scalar"]

    n = np.arange(3)
    assert notes(lambda a, b: a // b, n, n) == [
        "1 quotients or remainders of 64-bit integers: processors have none for vectors"
    ]
    assert len(notes(lambda a: a // 10, n)) == 1
    assert notes(lambda a: a // 4 + a % 8, n) == []
    assert notes(lambda a, b: a // b, n.astype(np.int32), n.astype(np.int32)) == []
    assert notes(lambda a: a + 1, np.zeros(3)) == []


def test_numerics_say_what_fast_does():
    fast = lw.vectorize(lambda a, b: a * b + 1, math="fast").explain(np.zeros(3), np.zeros(3))
    assert fast.to_dict()["numerics"][0].startswith("fast: other bits")
    strict = lw.vectorize(lambda a: a + 1).explain(np.zeros(3))
    assert strict.to_dict()["numerics"][0].startswith("strict")


def test_a_map_that_moves_much_is_put_beside_the_bandwidth():
    f = lw.vectorize(lambda a: a + 1, name="moves", compile="now")
    x = np.zeros(6_000_000)
    f(x)
    f(x)
    roofline = f.explain(x).to_dict()["roofline"]
    assert roofline["most_bytes"] > 1e8
    assert roofline["bytes"] > 0
