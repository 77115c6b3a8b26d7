"""Settings of all tests."""

import pytest
from hypothesis import settings

from skdpgen.metrics import CLASSIFIERS, REGRESSORS

# a busy machine is no failure, and examples are the same in each run
settings.register_profile("any machine", deadline=None, derandomize=True)
settings.load_profile("any machine")


@pytest.fixture
def few_models(monkeypatch):
    """Score by four models of each kind; a report trains twelve."""
    for table in (CLASSIFIERS, REGRESSORS):
        for kind, models in list(table.items()):
            names = {*list(models)[:2], "lda", "xgboost"}
            few = {name: model for name, model in models.items() if name in names}
            monkeypatch.setitem(table, kind, few)
