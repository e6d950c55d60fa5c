"""The peers, each a program of its own; none of them knows the robot."""
