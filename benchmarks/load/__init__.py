"""How much one process answers, and how it behaves under load."""
