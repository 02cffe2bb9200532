"""What an output is."""
