"""Cost models: estimates of operations and memory traffic."""
