"""What people report."""
