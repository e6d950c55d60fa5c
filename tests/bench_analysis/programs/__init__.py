"""What each program does, timed by itself."""
