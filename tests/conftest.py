"""What holds for all tests."""

from hypothesis import settings

# Machines differ, and are busy at times: how long an example takes says nothing about whether it is right.
settings.register_profile("unhurried", settings(deadline=None))
settings.load_profile("unhurried")
