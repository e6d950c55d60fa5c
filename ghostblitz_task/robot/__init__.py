"""A robot that watches the screen and presses real keys: a process of its own.

It sees only the square in the corner and what the study plans; it answers through the X server
(XTEST) as a keyboard does, and keeps its own times of what it saw and did.
"""
