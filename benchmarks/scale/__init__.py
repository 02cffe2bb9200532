"""Cost of a pass, of a round trip and of faults; what larger samples would take."""
