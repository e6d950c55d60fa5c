"""De-identification of data sets, and the search for what is left."""
