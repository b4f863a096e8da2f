"""Pattern recognition (idioms) in loop nests: matrix products, scans, searches, compactions."""
