"""Settings of all tests."""

from hypothesis import settings

# a busy machine is no failure, and examples are the same in each run
settings.register_profile("any machine", deadline=None, derandomize=True)
settings.load_profile("any machine")
