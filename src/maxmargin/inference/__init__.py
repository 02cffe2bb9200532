"""The best of a table: no w, no psi, no loss."""
