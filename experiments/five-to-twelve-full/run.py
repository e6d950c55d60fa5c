"""Start this study from PsychoPy's Runner or Coder, or from a shell (see README.md)."""

from pathlib import Path

from ghostblitz_task.running import run_from_psychopy

run_from_psychopy(Path(__file__).parent)
