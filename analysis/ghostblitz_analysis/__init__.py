"""From logs, or other people's trial tables, to RT and errors per rule and a report."""

from __future__ import annotations
