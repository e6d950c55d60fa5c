"""Settings of the exclusions that a study states beyond the ones that are always made.

Each is a table ``[[exclusions]]`` of `analysis.toml`, and they are made in the order in which they
stand there. ``step`` says which it is.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from ghostblitz_task.settings_files import Settings

__all__ = [
    "AfterBreaks",
    "AfterErrors",
    "DroppedFrames",
    "ExclusionSettings",
    "FiniteSettings",
    "MadTrim",
    "ParticipantLimits",
    "SdTrim",
    "VanSelstJolicoeurTrim",
    "Within",
]

#: Trials that are trimmed together: each participant's, each cell's, each participant's in a cell.
Within = Literal["participant", "cell", "participant_and_cell"]


class FiniteSettings(Settings):
    """Settings of an analysis, whose numbers are finite."""

    model_config = ConfigDict(allow_inf_nan=False)


class AfterErrors(FiniteSettings):
    """Trials that follow an error in their block, since people slow down there."""

    step: Literal["after_error"]


class AfterBreaks(FiniteSettings):
    """The first trial of every block, and the first after an interrupted run."""

    step: Literal["after_break"]


class DroppedFrames(FiniteSettings):
    """Trials in which more frames than `max_n` were missed while the card was shown."""

    step: Literal["dropped_frames"]
    max_n: int = Field(default=0, ge=0)


class SdTrim(FiniteSettings):
    """RTs more than `n_sd` standard deviations (ddof 1) from the mean of those they stand with."""

    step: Literal["sd"]
    n_sd: float = Field(default=2.5, gt=0)
    within: Within = "participant_and_cell"


class MadTrim(FiniteSettings):
    """RTs more than `n_mad` scaled median absolute deviations from the median."""

    step: Literal["mad"]
    n_mad: float = Field(default=2.5, gt=0)
    within: Within = "participant_and_cell"


class VanSelstJolicoeurTrim(FiniteSettings):
    """Van Selst & Jolicoeur's (1994) trimming, whose criterion depends on the number of RTs."""

    step: Literal["van_selst_jolicoeur"]
    method: Literal["nonrecursive", "modified_recursive"] = "modified_recursive"
    within: Within = "participant_and_cell"


class ParticipantLimits(FiniteSettings):
    """Participants who are left out of everything, by what they did in the analysed trials.

    Attributes
    ----------
    min_p_correct : float or None
        Least accuracy over all analysed trials.
    min_p_correct_per_rule : float or None
        Least accuracy in each rule that they were given.
    max_p_no_response : float or None
        Largest share of trials without a response in time.
    min_n_rt_per_cell : int or None
        Fewest RTs, after all steps before this one, in each cell that anybody has.
    """

    step: Literal["participants"]
    min_p_correct: float | None = Field(default=None, ge=0, le=1)
    min_p_correct_per_rule: float | None = Field(default=None, ge=0, le=1)
    max_p_no_response: float | None = Field(default=None, ge=0, le=1)
    min_n_rt_per_cell: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _some_limit_is_stated(self) -> ParticipantLimits:
        limits = self.model_dump(exclude={"step"})
        if all(limit is None for limit in limits.values()):
            raise ValueError(f"states no limit; give one of {', '.join(limits)}")
        return self


ExclusionSettings = Annotated[
    AfterErrors
    | AfterBreaks
    | DroppedFrames
    | SdTrim
    | MadTrim
    | VanSelstJolicoeurTrim
    | ParticipantLimits,
    Field(discriminator="step"),
]
