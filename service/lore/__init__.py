"""The domain: values and pure functions. Given the same values it answers the same."""
