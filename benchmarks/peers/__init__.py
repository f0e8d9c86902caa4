"""Other people's tools on the same data, each in an environment of its own."""
