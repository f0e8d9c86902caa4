"""Hidden common causes: a search over graphs with ↔, and what follows from the class found."""
