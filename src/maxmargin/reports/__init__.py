"""Tables, curves and pages."""
