"""The tuner: searches for schedules that are quicker than the compiler's own, and keeps them."""
