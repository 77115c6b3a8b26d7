"""Settings of the guards."""

import pytest


@pytest.fixture(autouse=True)
def _hardly_taught(hardly_taught):
    """What they learnt says how many rows vote for which, not how far one may move."""
