"""Facts about Python's syntax tree, before anything is lowered."""
