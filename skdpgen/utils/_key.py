"""What parts of a batch of rows, and blocks of a release, are called."""

from enum import StrEnum


class Key(StrEnum):
    """Names of the parts of a batch and of the blocks of a release.

    Examples
    --------
    >>> {"columns": 1}[Key.COLUMNS]
    1
    """

    COLUMNS = "columns"
    """Cells of each column."""

    PAIRS = "pairs"
    """Groups of cells, counted two columns at a time."""

    PARITIES = "parities"
    """Signs of columns, of which products are summed."""

    FEATURES = "features"
    """A bounded feature map of the row."""

    PIXELS = "pixels"
    """An image; no release sums it as it is."""

    TOKENS = "tokens"
    """Text, before its values are known."""

    DIGITS = "digits"
    """How many decimals numbers have."""

    OPEN = "open"
    """Cells and words of a row that earlier releases left open."""

    DISTINCT = "distinct"
    """Values of a column, whose distinct values are counted."""

    CLASSES = "classes"
    """Nothing beside the label: how many rows each class has."""

    TARGET = "target"
    """Bins of a number to predict, where rows are counted by parts of it."""

    ROWS = "rows"
    """Nothing at all: how many rows there are."""
