"""Parameters that would have no effect are refused before anything is paid."""

from typing import Any

USUAL = {
    "preset": "default",
    "lens": None,
    "n_prototypes": None,
    "covariance": None,
    "prior": "auto",
    "public_data": None,
}
OF_OURS = ("n_prototypes", "covariance", "prior")  # and not of the paper's method


def without_effect(estimator: Any, is_image: bool) -> None:
    """Raise for what is set and would change nothing, with a table or with a preset."""
    names = () if estimator.preset == "default" else OF_OURS
    where = "images" if is_image else "a table"
    for name in names if is_image else USUAL:
        given, usual = getattr(estimator, name), USUAL[name]
        if given is usual or (isinstance(given, str) and given == usual):
            continue
        shown = repr(given) if name != "public_data" else type(given).__name__
        but = "with preset='paper'" if is_image else "but for images"
        raise ValueError(
            f"{name} must be {usual!r} {but}. Got {shown}, which would have no effect "
            f"on {where}."
        )
