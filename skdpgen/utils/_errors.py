"""Exceptions and warnings of the package; each message says what to do."""


class SchemaError(ValueError):
    """A schema is incomplete, contradicts itself or does not match the table."""


class SchemaRequiredError(SchemaError):
    """Private discovery cannot work at this size and budget: give a schema."""


class BudgetExceededError(RuntimeError):
    """A release asks for more than is left of the privacy budget."""


class PrivacyLeakWarning(UserWarning):
    """Something was read from private data outside the guarantee."""


class NotPrivateWarning(UserWarning):
    """The result carries no privacy guarantee at all."""


class RareValuesWarning(UserWarning):
    """Many rows of a column hold values that are too rare to be found."""


class SchemaWarning(UserWarning):
    """What was said to be public does not fit what was released of the rows."""


class SearchCostWarning(UserWarning):
    """Several fits on the same rows each cost privacy; together they add up."""
