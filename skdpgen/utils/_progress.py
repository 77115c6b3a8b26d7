"""Progress bars of one look, on stderr: what is done, and the time that is left."""

from collections.abc import Iterable
from typing import Any

LOOK = "{desc:<20}|{bar:30}| {n_fmt} of {total_fmt} {unit}, {elapsed} passed"
TIMED = LOOK + ", {remaining} left"  # where one step is as long as another


def progress_bar(
    name: str,
    total: int | None = None,
    *,
    unit: str,
    is_shown: bool,
    is_timed: bool = True,
    **params: Any,
) -> Any:
    """Return a bar of tqdm.

    Parameters
    ----------
    name : str
        What is being done.
    total : int or None, default=None
        How many units there are.
    unit : str
        What is counted, in the plural.
    is_shown : bool
    is_timed : bool, default=True
        Whether to show the time that is left; else the bar is of stages, of which one
        takes longer than another, and goes away at the end.
    **params
        Others of tqdm.

    Examples
    --------
    >>> progress_bar("rows", 10, unit="rows", is_shown=False).total
    10
    """
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=f"{name}: ",  # as `set_description` writes it
        unit=unit,
        disable=not is_shown,
        leave=is_timed,
        bar_format=TIMED if is_timed else LOOK,
        **params,
    )


def training_bar(
    steps: Iterable[int], *, is_shown: bool, name: str = "training"
) -> Iterable[int]:
    """Return steps of a training, with a bar of how many are left.

    Examples
    --------
    >>> list(training_bar(range(3), is_shown=False))
    [0, 1, 2]
    """
    if not is_shown:
        return steps
    bar: Iterable[int] = progress_bar(name, unit="steps", is_shown=True, iterable=steps)
    return bar
