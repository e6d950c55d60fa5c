"""All entries that this program writes into logs: what `--share` passes on.

Whoever lets a log hold something new names it here, or a shared copy is without it; a test holds
this list against logs of every game. Entries under which participants stand are `_ID`: they are
replaced by codes after this list was applied, and what is no participant is cut there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ghostblitz_analysis.export.sharing.allow_list import (
    ANY,
    FLAG,
    NUMBER,
    NUMBERS,
    SENTENCE,
    STUDY_WORD,
    Entry,
    Keep,
    Keyed,
    form,
    keeper,
    one_of,
)
from ghostblitz_analysis.export.sharing.machine_entries import (
    APPARATUS,
    APPARATUS_SETTINGS,
    KEY,
    MARKER_NAME,
    REPLACED,
    SHA256,
    SOFTWARE,
    WORD,
)
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.schema import COLUMNS
from ghostblitz_task.timing.record import VERDICTS

__all__ = ["HEADER", "RECORDS", "study_words"]

_TIME = form(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_LANGUAGE = form(r"[a-z]{2,3}(-[A-Za-z]{2,4})?")
#: Replaced by a code, or cut, later on.
_ID = ANY
_LEVELS = frozenset(
    level for column in (*COLUMNS, *TURN_COLUMNS, *GAME_COLUMNS) for level in column.levels or ()
)
_OTHER_LEVELS = frozenset(
    [
        # Devices, of the captain's deck too.
        "other_keys", "other_buttons", "look_key", "look_button", "nudge_key", "nudge_button",
        # Feedback after a trial.
        "right", "wrong", "round",
        # The block of cards that came again; a hat that is over nothing.
        "recycled", "nothing",
    ]
)  # fmt: skip


def study_words(header: Mapping[str, Any]) -> frozenset[str]:
    """Return the texts that a log may hold because the study's settings or the table say them.

    The settings were checked when the log was loaded, and are published with the data.
    """
    found = set(_LEVELS | _OTHER_LEVELS)
    found.update(_texts_in(header.get("settings")), _texts_in(header.get("game")))
    return frozenset(found)


def _texts_in(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        return set(value).union(*(_texts_in(inner) for inner in value.values()))
    if isinstance(value, list):
        return set().union(*(_texts_in(inner) for inner in value))
    return set()


# --- parts of many records ---------------------------------------------------------------------

_PICTURE = r"\w[\w-]{0,29}:\w[\w-]{0,29}(@\d\d:\d\d)?"
_CARD = form(rf"{_PICTURE}(\({_PICTURE}\))?( {_PICTURE}(\({_PICTURE}\))?){{0,9}}")
_CLOCK_OR_WORD = form(r"\d\d:\d\d")


def _level(value: Any, words: Any) -> bool:
    return STUDY_WORD(value, words) or _CLOCK_OR_WORD(value, words)


_EVENTS: Entry = [
    {
        "t_s": NUMBER, "device": _level, "kind": one_of("press", "release"), "key": KEY,
        "code": NUMBER, "resolution_s": NUMBER, "mode": _level, "answer": _level,
        "player": NUMBER, "repeated": FLAG, "x_deg": NUMBER, "y_deg": NUMBER,
    }
]  # fmt: skip
_MARKERS: Entry = [
    {
        "name": MARKER_NAME, "label": form(r"[a-z-]+(/[a-z0-9:_-]+){0,4}"), "t_s": NUMBER,
        "code": NUMBER, "sent_s": NUMBER, "failed": [WORD],
    }
]  # fmt: skip
_SPOT: Entry = {"dropping_id": NUMBER, "x": NUMBER, "y": NUMBER, "path": NUMBER}
_HAPPENING = form(r"[a-z][a-z_]{0,29}([:+][a-z_]{1,30})?")
_HISTORY: Entry = {
    "unit": NUMBER,
    "steps": lambda value, words: (
        NUMBERS(value, words)
        or (
            isinstance(value, dict)
            and value.keys() == {"first", "every", "n"}
            and all(NUMBER(inner, words) for inner in value.values())
        )
    ),
    "bodies": Keyed(form(r"\d{1,3}|die|eye"), NUMBERS),
    "events": [[lambda value, words: NUMBER(value, words) or _HAPPENING(value, words)]],
}
_ACTIONS: Entry = [
    {
        "t_s": NUMBER, "action": WORD, "dropping_id": NUMBER, "colour": _level,
        "device": _level, "resolution_s": NUMBER, "result": WORD,
    }
]  # fmt: skip

# --- trials ------------------------------------------------------------------------------------

_SCORE: dict[str, Entry] = {
    "rt_s": NUMBER, "response": _level, "response_mode": _level, "response_device": _level,
    "response_resolution_s": NUMBER, "correct": FLAG, "mode_correct": FLAG, "error_kind": _level,
    "n_events": NUMBER, "key_held_at_onset": FLAG,
}  # fmt: skip
_ROUND: Entry = {
    "outcome": _level, "winner": _ID, "tied": [_ID], "by_lot": FLAG, "voided_by": _ID,
    "penalties": [{"player": _ID, "gave": FLAG, "mistaken": FLAG}], "recycled": [_CARD],
    "n_won": Keyed(ANY, NUMBER), "n_jackpot": NUMBER, "n_pile": NUMBER, "reason": ANY,
}  # fmt: skip
_TRIAL: dict[str, Entry] = {
    "trial_index": NUMBER, "block_index": NUMBER, "block_type": _level, "phase": _level,
    "trial_in_block": NUMBER, "card": _CARD, "hat_over": _level, "trials_since_hat_move": NUMBER,
    "rule": _level, "mode": _level, "target": _level, "answer": _level, "answer_kind": _level,
    "foreperiod_requested_s": NUMBER, "deadline_s": NUMBER, "second_response_window_s": NUMBER,
    "recycled": FLAG, "rival": [{"t_s": NUMBER, "mode": _level, "answer": _level}], "lot": [_ID],
    "fixation_onset_s": NUMBER, "onset_s": NUMBER, "n_dropped_frames": NUMBER,
    "longest_frame_s": NUMBER, "feedback": _level, "feedback_onset_s": NUMBER, "offset_s": NUMBER,
    "end_s": NUMBER, "held_at_onset": [KEY], "events": _EVENTS, "markers": _MARKERS,
    **_SCORE, "players": [_SCORE], "round": _ROUND,
}  # fmt: skip

# --- turns and games of the captain's deck -----------------------------------------------------

_TURN_FACTS: Entry = {
    "turn_index": NUMBER, "player_index": NUMBER, "began_s": NUMBER, "cue_at_start": _level,
    "cue_changes": [{"t_s": NUMBER, "colour": _level}], "on_deck": [_SPOT], "dropping_id": NUMBER,
    "lifted_s": NUMBER, "cue_at_pick": _level, "looked_s": NUMBER, "cue_at_look": _level,
    "colour": _level, "named_s": NUMBER, "named": _level, "claimed": _level, "resolved_s": NUMBER,
    "outcome": _level, "returned_to": _SPOT, "falls": [{"t_s": NUMBER, "dropping_id": NUMBER}],
    "nudges": [{"t_s": NUMBER, "allowed_by": WORD}],
    "refusals": [{"t_s": NUMBER, "action": WORD, "code": WORD, "reason": SENTENCE}],
}  # fmt: skip
_FLAGS_OF_TURNS = (
    "censored", "correct", "misnamed", "hit", "is_known", "is_known_own", "hit_given_known",
    "cue_changed", "cue_changed_before_pick", "cue_changed_while_held", "picked_seen",
)  # fmt: skip
_NUMBERS_OF_TURNS = (
    "pick_rt_s", "pick_rt_from_cue_s", "hold_s", "naming_rt_s", "n_on_deck", "n_cue_colour",
    "p_chance", "n_known", "p_chance_known", "p_chance_among_seen", "lag_turns", "path_moved",
    "net_moved", "picked_lag_turns", "picked_path_moved", "picked_net_moved", "n_unseen",
    "p_chance_unseen", "pick_resolution_s", "n_picks_of_nothing", "n_refused", "n_nudges",
    "n_fell",
)  # fmt: skip
_DERIVED: Entry = {
    **dict.fromkeys(_FLAGS_OF_TURNS, FLAG),
    **dict.fromkeys(_NUMBERS_OF_TURNS, NUMBER),
    "followed": _level,
    "pick_device": _level,
}
_TURN: Entry = {
    "block_index": NUMBER, "phase": _level, "turn_index": NUMBER, "player_id": _ID,
    "game_onset_s": NUMBER, "cue_onset_s": NUMBER, "change_onsets_s": [NUMBER],
    "colour_onset_s": NUMBER, "facts": _TURN_FACTS, "actions": _ACTIONS,
    "n_dropped_frames": NUMBER, "longest_frame_s": NUMBER, "derived": _DERIVED,
    "history": _HISTORY, "events": _EVENTS, "markers": _MARKERS,
}  # fmt: skip
_GAME_OVER: Entry = {
    "block_index": NUMBER, "outcome": WORD, "game_onset_s": NUMBER, "ended_s": NUMBER,
    "n_turns": NUMBER, "n_censored": NUMBER, "n_kept": NUMBER, "n_fallen": NUMBER,
    "n_on_deck": NUMBER, "n_held": NUMBER, "history": _HISTORY, "actions": _ACTIONS,
    "events": _EVENTS, "markers": _MARKERS,
}  # fmt: skip

# --- screens, blocks, the end ------------------------------------------------------------------

_SCREEN_NAMES = form(
    r"end|standings|pause|hat-choice|(instructions|break|over)-\d{1,4}"
    r"|key-check(-player-\d{1,2})?-(look|nudge)"
)
#: A screen that is called after a block, or after what its key stands for.
_NAMED_SCREEN = re.compile(
    r"(?:block|key-check(?:-player-\d{1,2})?-(?:grab|shout|colour|pick))-(?P<what>.+)"
)


def _screen_name(value: Any, words: Any) -> bool:
    named = _NAMED_SCREEN.fullmatch(value) if isinstance(value, str) else None
    return _SCREEN_NAMES(value, words) or (named is not None and _level(named["what"], words))


_BLOCK: Entry = {
    "block_index": NUMBER, "label": _level, "phase": _level, "block_type": _level,
    "n_trials": NUMBER, "t_s": NUMBER, "mode": _level, "colours": [_level],
    "deck": {
        "physics": form(r"pymunk [\d.]{1,20}, chipmunk [\d.]{1,20}(-[0-9a-f]{1,40})?"),
        "physics_version": NUMBER,
        "die_faces": [_level],
    },
    "markers": _MARKERS,
}  # fmt: skip
_OUTPUT_REPORT: Entry = {
    "n_pulses_cut_short": NUMBER, "longest_pulse_s": NUMBER, "had_consumers_at_end": FLAG,
    "clock_offset_s": NUMBER, "clock_uncertainty_s": NUMBER,
}  # fmt: skip
_MARKER_REPORT: Entry = {
    "n_sent": NUMBER, "n_failed": Keyed(WORD, NUMBER), "n_pulses_not_ended": NUMBER,
    "first_failure": {
        "label": form(r"[a-z-]+(/[a-z0-9:_-]+){0,4}"), "output": WORD, "reason": REPLACED,
    },
    "outputs": Keyed(WORD, _OUTPUT_REPORT),
}  # fmt: skip
_END: Entry = {
    "status": one_of("completed", "quit", "failed"), "reason": REPLACED, "n_trials": NUMBER,
    "n_games": NUMBER, "n_turns": NUMBER, "t_s": NUMBER, "events": _EVENTS, "markers": _MARKERS,
    "marker_report": _MARKER_REPORT,
}  # fmt: skip
_HAT: Entry = {
    "trial_index": NUMBER, "mover": one_of("schedule", "participant"), "hat_over": _level,
    "onset_s": NUMBER, "end_s": NUMBER, "events": _EVENTS,
}  # fmt: skip
_SCREEN: Entry = {"name": _screen_name, "onset_s": NUMBER, "end_s": NUMBER, "events": _EVENTS}

# --- the header --------------------------------------------------------------------------------

_COUNTS = Keyed(_level, NUMBER)
_BLOCK_REPORT: Entry = {
    "label": _level, "phase": _level, "type": _level, "n_trials": NUMBER, "n_by_rule": _COUNTS,
    "n_by_mode": _COUNTS, "n_by_target": _COUNTS, "n_card_repeats": NUMBER,
    "rule_switch_rate": NUMBER, "rule_switch_rate_requested": NUMBER, "mode_switch_rate": NUMBER,
    "target_repetition_rate": NUMBER, "target_repetition_rate_requested": NUMBER,
    "longest_run_rule": NUMBER, "longest_run_target": NUMBER, "longest_run_mode": NUMBER,
    "n_direct_by_position": Keyed(form(r"\d{1,2}"), NUMBER),
    "n_by_item_and_position": Keyed(
        lambda value, words: isinstance(value, str) and _level(value.partition("@")[0], words)
        and value.partition("@")[2].isdecimal(), NUMBER,
    ),
}  # fmt: skip
_GAME: Entry = {
    "name": WORD, "item_colours": Keyed(_level, _level), "n_pictures": NUMBER,
    "shout_item": _level, "rules": [_level], "times": [_level], "hat_mover": _level,
    # Of the captain's deck: what its settings, checked on loading, come to in each game.
    "games": [
        {
            "label": _level, "phase": _level, "mode": _level, "n_players": NUMBER,
            "n_per_colour": NUMBER, "railed_corners": [_level], "eye_speed_per_s": NUMBER,
            "look_s": NUMBER, "naming_s": NUMBER, "passing_s": NUMBER, "returns_to": _level,
            "allow_nudging": FLAG, "max_turns": NUMBER, "time_limit_s": NUMBER,
        }
    ],
}  # fmt: skip
_HEADER: Entry = {
    "format": WORD, "schema_version": NUMBER, "software": SOFTWARE, "study_id": STUDY_WORD,
    "study_title": STUDY_WORD, "settings": ANY, "settings_sha256": SHA256,
    "apparatus_settings": APPARATUS_SETTINGS, "apparatus": APPARATUS,
    "timing_self_test": {
        "file": REPLACED, "sha256": SHA256, "verdict": one_of(*VERDICTS),
        "started_utc": REPLACED, "refresh_hz": NUMBER,
    },
    "participant_id": _ID, "session": NUMBER, "run": NUMBER, "seed": NUMBER, "source": _level,
    "participant_model": WORD,
    "resumes": {"file": REPLACED, "sha256": SHA256, "n_trials": NUMBER, "n_games": NUMBER},
    "others": [_ID], "analysis_file_sha256": SHA256, "language": _LANGUAGE, "game": _GAME,
    "company": {
        "players": [_ID], "max_recycled": NUMBER,
        "rival": {
            "kind": form(r"model|ghost|person"), "n_trials_by_rule": _COUNTS, "files": [REPLACED],
        },
    },
    "plan_sha256": SHA256, "n_trials_planned": NUMBER, "n_games_planned": NUMBER,
    "design_report": [_BLOCK_REPORT], "started_utc": _TIME,
}  # fmt: skip

_NUMBERED: dict[str, Entry] = {"type": WORD, "n": NUMBER}


def _record(kind: str, entry: Entry) -> Keep:
    assert isinstance(entry, Mapping)
    return keeper({**_NUMBERED, **entry}, kind)


#: What is kept of a header, and of each type of record.
HEADER = _record("header", _HEADER)
RECORDS: Mapping[str, Keep] = {
    kind: _record(kind, entry)
    for kind, entry in {
        "screen": _SCREEN, "block": _BLOCK, "hat": _HAT, "trial": _TRIAL, "interrupted": _TRIAL,
        "turn": _TURN, "game": _GAME_OVER, "end": _END,
    }.items()
}  # fmt: skip
