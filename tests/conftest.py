"""Settings of all tests."""

from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # a busy one is no failure
settings.load_profile("any machine")
