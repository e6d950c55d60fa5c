"""What every export holds, whatever its format."""
