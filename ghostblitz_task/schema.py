"""Every column of the trial table: the single source for names, types, units and meanings.

The log holds facts and, beside them, what was derived when the trial ended; the columns in
group ``derived`` are computed again from the facts whenever a log is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "COLUMNS",
    "ERROR_KINDS",
    "FACTOR_PREFIX",
    "RULES",
    "SCHEMA_VERSION",
    "Column",
    "DType",
    "column",
]

SCHEMA_VERSION = 1

#: Columns a study or an import adds beyond the schema begin so.
FACTOR_PREFIX = "factor_"

#: In the order in which they are decided: the first that applies names the error.
ERROR_KINDS = (
    "early",
    "late",
    "both_modes",
    "called_for_hat_grab",
    "called_for_grab",
    "hat_called",
    "wrong_item_called",
    "hat_grabbed",
    "under_hat",
    "grabbed_for_call",
    "rule_missed",
    "wrong_kind",
    "wrong_time",
    "own_colour",
    "wrong_colour",
    "shape_capture",
    "colour_capture",
    "shape_and_colour_capture",
    "rule_confusion",
    "wrong_mode",
)

RULES = ("direct", "exclusion", "mirror", "mirror-owl", "time")

DType = Literal["string", "Int64", "Float64", "boolean"]
Group = Literal["session", "design", "fact", "derived"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the trial table.

    Attributes
    ----------
    name : str
        As in the table and, for facts and derived values, in the log.
    dtype : str
        A pandas nullable dtype.
    meaning : str
        What the value says.
    group : str
        ``session`` and ``design`` columns are known before a trial, ``fact`` columns are
        observed in it, ``derived`` ones follow from the others.
    unit : str or None
        SI unit, null for values without one.
    levels : tuple of str
        The values a categorical column can take; empty where any value can stand.
    null_when : str or None
        When the value is missing; null if it never is.
    """

    name: str
    dtype: DType
    meaning: str
    group: Group
    unit: str | None = None
    levels: tuple[str, ...] = ()
    null_when: str | None = None


COLUMNS: tuple[Column, ...] = (
    Column("study_id", "string", "The study, as its settings name it", "session"),
    Column("game", "string", "The game whose rules solve the cards", "session"),
    Column("participant_id", "string", "The participant; a string, so 007 stays 007", "session"),
    Column("session", "Int64", "Session of this participant, from 1", "session"),
    Column("run", "Int64", "Run of the session, from 1; a resumed session has several", "session"),
    Column(
        "source",
        "string",
        "Who answered; only human data say anything about people",
        "session",
        levels=("human", "robot", "simulated", "imported"),
    ),
    Column(
        "participant_model",
        "string",
        "The model that answered",
        "session",
        null_when="source is not simulated",
    ),
    Column(
        "n_players",
        "Int64",
        "Participants at the machine, each with keys of their own; a simulated rival is none",
        "session",
        null_when="imported data",
    ),
    Column(
        "player",
        "Int64",
        "The participant's seat, from 1",
        "session",
        null_when="nobody else plays with keys",
    ),
    Column(
        "rival_kind",
        "string",
        "The simulated rival who plays along: a model with RTs of its own, or a ghost that plays "
        "the participant's earlier trials",
        "session",
        levels=("model", "ghost"),
        null_when="there is no simulated rival",
    ),
    Column(
        "display_synchronised",
        "boolean",
        "Whether flips were seen to wait for the screen's refresh",
        "session",
        null_when="imported or simulated data",
    ),
    Column("trial_index", "Int64", "Trial of the session, from 0", "design"),
    Column("block_index", "Int64", "Block of the session, from 0", "design"),
    Column(
        "block_type",
        "string",
        "Which rules the block's cards follow",
        "design",
        levels=(*RULES, "mixed"),
    ),
    Column(
        "block_kind",
        "string",
        "Whether one rule or several are mixed in the block",
        "derived",
        levels=("pure", "mixed"),
    ),
    Column(
        "phase",
        "string",
        "Practice trials are logged like all others",
        "design",
        levels=("practice", "test"),
    ),
    Column("trial_in_block", "Int64", "Trial of its block, from 0", "design"),
    Column("card", "string", "Card text, pictures in the order drawn, left to right", "design"),
    Column("item_colours", "string", "Each item of the game and its own colour", "design"),
    Column(
        "rules",
        "string",
        "The additional rules in play, in alphabetical order; empty for none",
        "design",
    ),
    Column(
        "hat_over",
        "string",
        "The item that the hat hides while the card is shown",
        "derived",
        null_when="the game has no hat",
    ),
    Column(
        "trials_since_hat_move",
        "Int64",
        "Trials since the hat was put there; 0 for the first card after a move, and after the "
        "session's start",
        "derived",
        null_when="the game has no hat, or imported data",
    ),
    Column("rule", "string", "How the target is found", "derived", levels=RULES),
    Column("mode", "string", "What the card demands", "derived", levels=("grab", "shout")),
    Column(
        "target",
        "string",
        "The item that the rule singles out",
        "derived",
        null_when="the rule is time, which singles out none",
    ),
    Column("answer", "string", "What is to be grabbed or shouted", "derived"),
    Column(
        "answer_kind",
        "string",
        "What kind of thing the answer is",
        "derived",
        levels=("item", "colour", "time"),
    ),
    Column(
        "direct_position",
        "Int64",
        "Place of the picture in its own colour on the card, from 0 at the left",
        "derived",
        null_when="the rule is not direct",
    ),
    Column(
        "foreperiod_requested_s",
        "Float64",
        "Planned time from fixation to card",
        "design",
        "s",
        null_when="imported data",
    ),
    Column(
        "foreperiod_s",
        "Float64",
        "Achieved time from fixation to card",
        "derived",
        "s",
        null_when="imported data",
    ),
    Column(
        "fixation_onset_s",
        "Float64",
        "Flip that showed the fixation mark, session clock",
        "fact",
        "s",
        null_when="imported data",
    ),
    Column(
        "onset_s",
        "Float64",
        "Flip that showed the card, session clock",
        "fact",
        "s",
        null_when="imported data",
    ),
    Column(
        "deadline_s",
        "Float64",
        "Time allowed for the response, from the card",
        "design",
        "s",
        null_when="imported data without one",
    ),
    Column(
        "rt_s",
        "Float64",
        "First response key (or button, or pointer press) minus the flip that showed the card; "
        "negative when it came before the card",
        "derived",
        "s",
        null_when="nothing was answered in time",
    ),
    Column(
        "response",
        "string",
        "What was grabbed or shouted first",
        "derived",
        null_when="nothing was answered in time",
    ),
    Column(
        "response_mode",
        "string",
        "How it was answered first",
        "derived",
        levels=("grab", "shout"),
        null_when="nothing was answered in time",
    ),
    Column(
        "response_device",
        "string",
        "What the response came from; shout_keys are keys that stand for a voice, and buttons "
        "those of a response pad that stand for such keys",
        "derived",
        levels=("grab_keys", "shout_keys", "grab_buttons", "shout_buttons", "pointer"),
        null_when="nothing was answered in time, or imported data",
    ),
    Column(
        "response_resolution_s",
        "Float64",
        "How coarsely the device's times are known",
        "fact",
        "s",
        null_when="nothing was answered in time, or imported data",
    ),
    Column(
        "correct", "boolean", "Whether item and mode were right, in time and only once", "derived"
    ),
    Column(
        "mode_correct",
        "boolean",
        "Whether the first response was in the right mode",
        "derived",
        null_when="nothing was answered in time",
    ),
    Column(
        "error_kind",
        "string",
        "What kind of error it was: early (before the card), late (no response before the "
        "deadline), both_modes (grabbed and shouted), shape_capture (a depicted item), "
        "colour_capture (an item whose own colour is shown), shape_and_colour_capture (both), "
        "rule_confusion (an item that the exclusion rule would accept, on a card with a direct "
        "match), wrong_mode (the right answer in the wrong mode); with a hat: "
        "called_for_hat_grab (anything called where the hat was to be grabbed), called_for_grab "
        "(anything called where another item was), hat_called (the hat instead of what it "
        "hides), wrong_item_called, hat_grabbed (the hat, wrongly), under_hat (the hidden target "
        "itself instead of the hat), grabbed_for_call (an item where one was to be called); with "
        "additional rules: rule_missed (right if a rule that applies were left out), wrong_kind "
        "(an item for a colour, a colour for a time and so on), wrong_time, own_colour (the "
        "mirrored item's own colour instead of the one shown), wrong_colour (another one)",
        "derived",
        levels=ERROR_KINDS,
        null_when="the response was correct",
    ),
    Column(
        "n_events",
        "Int64",
        "Key, button and pointer events logged with the trial",
        "derived",
        null_when="imported data",
    ),
    Column(
        "key_held_at_onset",
        "boolean",
        "Whether a response key was down when the card came",
        "derived",
        null_when="imported data",
    ),
    Column(
        "n_dropped_frames",
        "Int64",
        "Intervals between flips longer than 1.5 frames, from the last flip without the card to "
        "the next without it",
        "fact",
        null_when="imported data",
    ),
    Column(
        "longest_frame_s",
        "Float64",
        "Longest interval between flips, from the last without the card to the next without it",
        "fact",
        "s",
        null_when="imported data",
    ),
    Column(
        "recycled",
        "boolean",
        "Whether the card had been played for before and came again from under the pile",
        "derived",
        null_when="the card is not played for",
    ),
    Column(
        "round_outcome",
        "string",
        "What became of the card: somebody won it, nobody did because the first who was right "
        "grabbed and shouted (voided), or nobody was right, or nobody answered",
        "derived",
        levels=("won", "voided", "nobody_right", "nobody_answered"),
        null_when="the card is not played for",
    ),
    Column(
        "took_card",
        "boolean",
        "Whether the participant won the card",
        "derived",
        null_when="the card is not played for",
    ),
    Column(
        "gave_card",
        "boolean",
        "Whether the participant gave up a card won before",
        "derived",
        null_when="the card is not played for",
    ),
    Column(
        "tied",
        "boolean",
        "Whether the participant was right at a time that cannot be told apart from another "
        "player's, the first to be right among them",
        "derived",
        null_when="the card is not played for",
    ),
    Column(
        "n_cards_won",
        "Int64",
        "Cards that the participant has in hand after the round",
        "derived",
        null_when="the card is not played for",
    ),
    Column(
        "rival_rt_s",
        "Float64",
        "First response of the simulated rival, from the card; negative when it came before",
        "derived",
        "s",
        null_when="the card is not played for, or no rival answered in time",
    ),
    Column(
        "rival_correct",
        "boolean",
        "Whether the simulated rival was right, in time and without a mistake",
        "derived",
        null_when="the card is not played for, or there is no simulated rival",
    ),
    Column(
        "rival_took_card",
        "boolean",
        "Whether the simulated rival won the card",
        "derived",
        null_when="the card is not played for, or there is no simulated rival",
    ),
    Column(
        "resumed",
        "boolean",
        "Whether this is the first trial after an interrupted run",
        "derived",
        null_when="imported data",
    ),
)

_BY_NAME = {c.name: c for c in COLUMNS}


def column(name: str) -> Column:
    """Return the column of this name; `KeyError` is our own bug."""
    return _BY_NAME[name]
