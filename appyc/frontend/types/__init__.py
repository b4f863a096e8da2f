"""Types and values at compile time, and the rules for combining them."""
