"""Labels of participants: letters and digits, one for each."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_analysis.export.bids.labels import participant_labels, task_label

ids = st.lists(
    st.one_of(
        st.text(min_size=1, max_size=70),
        st.from_regex(r"[0-9A-Za-z]{1,3}", fullmatch=True),
        st.sampled_from(["a", "A", "a-", "ax2", "a x2", "-", "李", "p", "n/a"]),
    ),
    unique=True,
    max_size=12,
)


@given(ids)
def test_labels_are_alphanumeric_and_differ_in_more_than_capitals(names):
    labels = participant_labels(names)
    assert list(labels) == names
    assert all(re.fullmatch("[0-9A-Za-z]+", label) for label in labels.values())
    assert len({label.casefold() for label in labels.values()}) == len(names)


@given(ids)
def test_labels_do_not_depend_on_the_order_of_ids(names):
    assert participant_labels(names[::-1]) == participant_labels(names)


@given(st.lists(st.from_regex(r"[0-9a-z]{1,64}", fullmatch=True), unique=True, max_size=8))
def test_id_that_is_a_label_keeps_it(plain):
    labels = participant_labels([*[f"-{name}" for name in plain], *plain])
    assert {name: labels[name] for name in plain} == {name: name for name in plain}


def test_odd_ids_get_the_labels_that_are_documented():
    names = ["01", "1", "0 1", "Zoë", "=1+1", "n/a", "李", "a" * 80, "A", "a"]
    assert participant_labels(names) == {
        "01": "01", "1": "1", "0 1": "01x2", "Zoë": "Zoe", "=1+1": "11", "n/a": "na", "李": "p",
        "a" * 80: "a" * 64, "A": "A", "a": "ax2",
    }  # fmt: skip


def test_task_label_has_letters_and_digits_only():
    assert task_label("grab-or-shout") == "graborshout"
    assert task_label("--") == "task"
