"""Where the oracle runs."""
