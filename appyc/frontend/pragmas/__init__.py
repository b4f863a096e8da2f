"""From comments to records of what they ask for."""
