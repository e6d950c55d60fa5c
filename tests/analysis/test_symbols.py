from __future__ import annotations

import pytest

from ghostblitz_analysis.page_templates import page_templates
from ghostblitz_analysis.report_tables import ReportTable


def page(header, row, *, n_left, caption=""):
    text = '{% from "parts.html.j2" import table with context %}{{ table(data, caption) }}'
    table = ReportTable(header, (row,), n_left)
    return page_templates().from_string(text).render(data=table, caption=caption, figures={})


@pytest.mark.parametrize(
    ("title", "html"),
    [
        ("BF10", "BF<sub>10</sub>"),
        ("t (df)", "<i>t</i> (<i>df</i>)"),
        ("ηG²", "η<sub>G</sub><sup>2</sup>"),
        ("RT (s)", "RT (s)"),
        ("p < b & c", "<i>p</i> &lt; <i>b</i> &amp; c"),
        ("group", "group"),
    ],
)
def test_column_titles_have_the_symbols_of_statistics(title, html):
    assert f'<th class="n" scope="col">{html}</th>' in page((title,), ("1",), n_left=0)


@pytest.mark.parametrize(
    ("cell", "n_left", "html"),
    [
        ("6.89 × 10^6", 0, '<td class="n">6.89 × 10<sup>6</sup></td>'),
        ("2 × 10^−5", 0, '<td class="n">2 × 10<sup>−5</sup></td>'),
        ("<b>10^6</b>", 0, '<td class="n">&lt;b&gt;10<sup>6</sup>&lt;/b&gt;</td>'),
        ("study 10^6 <i>", 1, "<td>study 10^6 &lt;i&gt;</td>"),
    ],
)  # fmt: skip
def test_powers_are_raised_in_numbers_but_names_stand_as_they_are(cell, n_left, html):
    assert html in page(("x",), (cell,), n_left=n_left)


def test_captions_have_indices_and_no_italic_words():
    made = page(("x",), ("1",), n_left=0, caption="a t test, n = 3; BF10 <b>")
    assert '<p class="note caption">a t test, n = 3; BF<sub>10</sub> &lt;b&gt;</p>' in made
