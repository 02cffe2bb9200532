"""Neural networks with structured losses: worked examples on real data."""
