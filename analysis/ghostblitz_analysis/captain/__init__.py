"""The captain's deck: from logs to turns and games, measures of memory, and a report."""

from __future__ import annotations
