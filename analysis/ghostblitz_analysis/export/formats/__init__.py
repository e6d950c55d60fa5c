"""Open formats whose tables come back as they were: Psych-DS, Frictionless, CSV, Parquet."""
