"""Rules from Python's AST to a smaller AST: what they replace is lowered nowhere else."""
