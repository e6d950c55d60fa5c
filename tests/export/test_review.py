"""What a reviewer would miss, and that what was stated is not asked for again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ghostblitz_analysis.export.publication import Publication, load_publication
from ghostblitz_analysis.export.review import ReviewItem, review_export, review_text
from ghostblitz_analysis.export.source import ExportSource, load_source
from tests.export.small_sources import EXAMPLE, imported, published, simulated


def by_topic(source: ExportSource) -> dict[str, ReviewItem]:
    return {item.topic: item for item in review_export(source)}


@pytest.fixture(scope="module")
def bare() -> dict[str, ReviewItem]:
    return by_topic(load_source(EXAMPLE))


def test_bare_data_set_lacks_what_only_authors_know(bare):
    missing = {topic for topic, item in bare.items() if item.status == "missing"}
    assert missing == {
        "TOP, study registration", "TOP, analysis code", "TOP, data", "title", "description",
        "authors", "licence", "keywords",
    }  # fmt: skip


def test_everything_missing_says_what_to_write_where(bare):
    for item in bare.values():
        if item.status == "missing":
            assert item.todo is not None
            assert "publication.toml" in item.todo


def test_full_publication_lacks_nothing(tmp_path):
    items = review_export(published(tmp_path / "d"))
    assert [item for item in items if item.status == "missing"] == []
    assert "nothing is missing" in review_text(items)
    author = next(item for item in items if item.topic == "authors")
    assert author.status == "look"
    assert author.message.endswith("without an ORCID: Ng")


def test_stating_that_there_was_no_registration_is_not_level_2():
    source = load_source(EXAMPLE)
    stated = replace(source, publication=Publication(no_preregistration=True))
    item = by_topic(stated)["TOP, study registration"]
    assert item.status == "look"
    assert "level 1" in item.message


def test_imported_data_have_no_materials_of_their_own(tmp_path):
    items = by_topic(imported(tmp_path))
    assert items["TOP, materials"].status == "missing"
    assert items["ethics approval"].status == "missing"
    assert items["TOP, analysis plan"].status == "look"


def test_simulated_data_need_no_ethics_approval_and_are_called_so(bare):
    assert bare["ethics approval"].status == "have"
    assert bare["who answered"].message.startswith("simulated data, not people")


def test_analysis_settings_stated_before_the_data_are_told(bare, tmp_path):
    assert bare["TOP, analysis plan"].status == "have"
    source = published(tmp_path / "d")
    (source.path / "analysis.toml").write_text("confidence = 0.9\n")
    assert by_topic(load_source(source.path))["TOP, analysis plan"].status == "look"


@pytest.mark.slow
def test_captains_deck_is_reviewed_by_its_logs(tmp_path):
    items = by_topic(simulated("captain-static", tmp_path / "d"))
    assert items["TOP, analysis plan"].status == "have"
    assert items["TOP, materials"].status == "have"


def test_unusual_licence_is_to_be_looked_at():
    source = replace(load_source(EXAMPLE), publication=Publication(licence="WTFPL"))
    assert by_topic(source)["licence"].status == "look"


def test_warnings_of_the_validation_are_told(tmp_path):
    items = review_export(imported(tmp_path))
    assert any(item.topic.startswith("data, ") for item in items)


def test_list_counts_what_is_missing(bare):
    text = review_text(tuple(bare.values()))
    assert text.endswith("15 points, 8 missing.")
    assert text.count("MISSING") == 8


def test_entry_that_is_asked_for_is_valid_toml(tmp_path):
    item = by_topic(load_source(EXAMPLE))["licence"]
    assert item.todo is not None
    entry = item.todo.removeprefix("write ").split(" or ")[0].split(" into ")[0]
    (tmp_path / "publication.toml").write_text(entry)
    assert load_publication(tmp_path).licence == "CC0-1.0"
