"""Integer expressions as sums and products of named terms."""
