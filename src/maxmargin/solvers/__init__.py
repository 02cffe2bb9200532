"""From planes to weights."""
