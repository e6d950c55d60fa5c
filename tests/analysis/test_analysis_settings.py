# ruff: noqa: E501 - one case a line
"""The analysis settings: what is in them, and what is said of a fault in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from ghostblitz_analysis import exclusion_settings
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.settings_files import load_settings

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
STEPS = [
    model
    for model in vars(exclusion_settings).values()
    if isinstance(model, type) and "step" in getattr(model, "model_fields", {})
]
SD = '[[exclusions]]\nstep = "sd"\n'
CONTRAST = '[[contrasts]]\nname = "rule"\nlevel = "exclusion"\nreference = "direct"\n'
OTHER = CONTRAST.replace('name = "rule"', 'name = "other"')
REVERSED = '[[contrasts]]\nname = "reversed"\nlevel = "direct"\nreference = "exclusion"\n'
CROSSED = 'within = { block_kind = "mixed" }\nagainst = { block_kind = "pure" }\n'
CROSSED_BACK = 'within = { block_kind = "pure" }\nagainst = { block_kind = "mixed" }\n'
#: The interaction of CONTRAST + CROSSED, said the other way round.
OF_KIND = (
    '[[contrasts]]\nname = "kind"\nof = "block_kind"\nlevel = "mixed"\nreference = "pure"\n'
    'within = { rule = "exclusion" }\nagainst = { rule = "direct" }\n'
)


def load(tmp_path, text):
    (tmp_path / "analysis.toml").write_text(text, encoding="utf-8")
    return load_settings(tmp_path / "analysis.toml", AnalysisSettings)


def test_everything_can_be_stated(tmp_path):
    text = """
        skip_first_trials = 2
        measures = ["median_rt_s"]
        correction = "fdr_bh"
        alpha = 0.01
        [[exclusions]]
        step = "after_error"
        [[exclusions]]
        step = "van_selst_jolicoeur"
        method = "nonrecursive"
        within = "participant"
        [[exclusions]]
        step = "participants"
        min_p_correct = 0.7
        min_n_rt_per_cell = 10
        [[contrasts]]
        name = "mixing cost of exclusion"
        of = "block_kind"
        level = "mixed"
        reference = "pure"
        within = { rule = "exclusion" }
        against = { rule = "direct" }
        [models]
        rt = ["log_rt"]
        [reliability]
        n_splits = 100
    """
    settings = load(tmp_path, text)
    assert [step.step for step in settings.exclusions] == [
        "after_error", "van_selst_jolicoeur", "participants",
    ]  # fmt: skip
    assert settings.contrasts[0].against == {"rule": "direct"}
    assert settings.reliability.n_splits == 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[exclusions]]\nstep = "after_eror"\n', r"exclusions\.0\.step: 'after_eror' is not known.*did you mean after_error\?"),
        ('[[exclusions]]\nstep = "median"\n', r"exclusions\.0\.step: 'median' is not known; there are after_error, after_break, "),
        ("[[exclusions]]\nn_sd = 2.5\n", r"exclusions\.0\.step is missing; there are after_error, "),
        ("[[exclusions]]\nstep = 3\n", r"exclusions\.0\.step: 3 is not known"),
        ("[exclusions]\n", r"exclusions: "),
        ("exclusions = [3]\n", r"exclusions\.0: "),
        (SD + "n_sds = 2.5\n", r"exclusions\.0\.n_sds is not a setting; did you mean n_sd\?"),
        (SD + "xyzzy = 2.5\n", r"exclusions\.0\.xyzzy is not a setting; there are step, n_sd, within"),
        (SD + 'n_sd = "2"\n', r"exclusions\.0\.n_sd: .*number, but it is '2'"),
        (SD + "n_sd = 0\n", r"exclusions\.0\.n_sd: .*greater than 0, but it is 0"),
        (SD + 'within = "person"\n', r"exclusions\.0\.within: .*'participant_and_cell', but it is 'person'"),
        (SD + SD + "n_sd = -1\n", r"exclusions\.1\.n_sd: "),
        ('[[exclusions]]\nstep = "participants"\n', r"exclusions\.0: states no limit; give one of min_p_correct, "),
        ('[[exclusions]]\nstep = "participants"\nmin_p_correct = 80\n', r"exclusions\.0\.min_p_correct: .*less than or equal to 1"),
        (CONTRAST + 'of = "color"\n', r"contrasts\.0\.of: .*'rule', 'block_kind' or 'mode', but it is 'color'"),
        (CONTRAST + 'within = { blok_kind = "pure" }\n', r"contrasts\.0\.within\.blok_kind: .*'rule', 'block_kind' or 'mode'"),
        (CONTRAST + "within = { mode = 3 }\n", r"contrasts\.0\.within\.mode: .*string, but it is 3"),
        (CONTRAST + 'within = { rule = "direct" }\n', r"contrasts\.0: rule is what is compared"),
        (CONTRAST + 'against = { mode = "grab" }\n', r"contrasts\.0: against must name the same factors"),
        (CONTRAST.replace('"exclusion"', '"direct"'), r"contrasts\.0: level and reference are the same"),
        (CONTRAST.replace("level", "levle"), r"contrasts\.0\.levle is not a setting; did you mean level\?"),
        (CONTRAST.replace('reference = "direct"\n', ""), r"contrasts\.0\.reference is missing"),
        ('correction = "tukey"\n', r"correction: .*'tukey'"),
        ("alpha = 5\n", r"alpha: .*less than 0\.5"),
        ("[models]\nrt = [\"logrt\"]\n", r"models\.rt\.0: .*'logrt'"),
        ("[reliability]\nn_split = 5\n", r"reliability\.n_split is not a setting; did you mean n_splits\?"),
        ("[bounds]\nmax_rt_s = inf\n", r"bounds: max_rt_s must be a finite number, but it is inf"),
        ("[bounds]\nmax_rt_s = nan\n", r"bounds\.max_rt_s: .*greater than 0, but it is nan"),
        ("[bounds]\nmin_rt_s = nan\n", r"bounds\.min_rt_s: .*finite number"),
        (SD + "n_sd = inf\n", r"exclusions\.0\.n_sd: .*finite number"),
        ('[[exclusions]]\nstep = "mad"\nn_mad = inf\n', r"exclusions\.0\.n_mad: .*finite number"),
        ("bayes_r_scale = inf\n", r"bayes_r_scale: .*finite number"),
        ("confidence = 0.99999\n", r"confidence: .*less than or equal to 0\.9999"),
        ("reliability.n_splits = 100_001\n", r"reliability\.n_splits: .*less than or equal to 100000"),
        ("phases = []\n", r"phases: must not have fewer entries than 1, but it is \[\]$"),
        ('phases = ["test", "test"]\n', r"phases: 'test' stands there twice; name it once"),
        ('cells = ["rule", "mode", "rule"]\n', r"cells: 'rule' stands there twice"),
        ('measures = ["p_correct", "p_correct"]\n', r"measures: 'p_correct' stands there twice"),
        ('models.rt = ["log_rt", "log_rt"]\n', r"models\.rt: 'log_rt' stands there twice"),
        ('models.errors = ["gee", "gee"]\n', r"models\.errors: 'gee' stands there twice"),
        (CONTRAST + CONTRAST.replace('"exclusion"', '"mirror"'), r"contrasts: two are named 'rule'; give each a name of its own"),
        (CONTRAST + OTHER, r"contrasts: 'rule' and 'other' are the same comparison; leave one out"),
        (CONTRAST + REVERSED, r"contrasts: 'rule' and 'reversed' are the same comparison, one the other's reverse"),
        (CONTRAST + CROSSED + OTHER + CROSSED_BACK, r"contrasts: 'rule' and 'other' .* one the other's reverse"),
        (CONTRAST + CROSSED + OF_KIND, r"contrasts: 'rule' and 'kind' are the same comparison; leave one out"),
        ("[bounds]\nmin_rt_s = 3\nmax_rt_s = 2\n", r"bounds: min_rt_s must be below max_rt_s"),
    ],
)  # fmt: skip
def test_fault_is_said_in_one_line_with_its_place(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, text)
    assert "analysis.toml: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_contrasts_that_differ_in_their_cells_are_all_taken(tmp_path):
    in_pure = OTHER + 'within = { block_kind = "pure" }\n'
    text = CONTRAST + in_pure + OF_KIND
    assert [contrast.name for contrast in load(tmp_path, text).contrasts] == [
        "rule", "other", "kind",
    ]  # fmt: skip


def test_hash_is_of_the_settings_not_of_the_file(tmp_path):
    one = load(tmp_path, SD + "n_sd = 2.5\n")
    assert one.sha256 == load(tmp_path, "# said otherwise\n" + SD).sha256
    assert one.sha256 != load(tmp_path, SD + "n_sd = 3.0\n").sha256
    two = load(tmp_path, SD + '[[exclusions]]\nstep = "mad"\n')
    other_order = load(tmp_path, '[[exclusions]]\nstep = "mad"\n' + SD)
    assert two.sha256 != other_order.sha256


def keys_of(model, path=""):
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys_of(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}"


@pytest.mark.parametrize("key", list(keys_of(AnalysisSettings)))
def test_every_setting_is_documented(key):
    assert f"`{key}`" in DOCUMENTED.split("## analysis.toml")[1] or f"[[{key}]]" in DOCUMENTED


@pytest.mark.parametrize("model", STEPS, ids=lambda model: model.__name__)
def test_every_step_and_its_keys_are_documented(model):
    (step,) = re.findall(r"'(\w+)'", str(model.model_fields["step"].annotation))
    (row,) = re.findall(rf'^\| `step = "{step}"` .*$', DOCUMENTED, flags=re.MULTILINE)
    for name, field in model.model_fields.items():
        assert name == "step" or f"`{name}`" in row
        if name != "step" and field.default is not None:
            assert str(field.default) in row
