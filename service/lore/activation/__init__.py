"""Which entries of trigger lorebooks a turn activates: one engine, whose dialects are rows of data."""
