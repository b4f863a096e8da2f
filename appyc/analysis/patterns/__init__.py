"""Loop nests that are recognised by what they compute: products, scans, searches, compactions."""
