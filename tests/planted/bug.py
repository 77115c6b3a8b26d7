"""What a planted bug is, and where the tests are that catch it."""

from dataclasses import dataclass

REPLAY = "tests/guards/test_replay.py::"
NOISE = "tests/guards/test_noise_of_fits.py::"
SUMS = "tests/guards/test_sums.py::"
LEFT = "tests/guards/test_nothing_left.py::"
TABLES = REPLAY + "test_a_table_is_known_by_its_releases_alone"
IMAGES = REPLAY + "test_images_are_known_by_their_releases_alone"
PUBLIC_ROWS = (
    "tests/guards/test_public_rows.py::test_a_table_is_known_by_its_releases_alone"
)
NOISE_OF_TABLES = NOISE + "test_tables_are_released_with_the_declared_noise"
NOISE_OF_IMAGES = NOISE + "test_images_are_released_with_the_declared_noise"
JOINTLY = "tests/synthesizers/test_certificates.py"
SAID = "tests/guards/test_statements_made.py::"
SEARCH = "tests/test_sklearn.py::"


@dataclass(frozen=True)
class Bug:
    """One patch, and the tests that must fail with it.

    ``where`` is ``package:qualified.name`` of a function, class or constant. ``old`` is
    replaced by ``new``: both are expressions, or both are statements, and ``old``
    occurs once in what ``where`` names (:mod:`tests.planted.source`).
    """

    name: str
    what: str
    where: str
    old: str
    new: str
    tests: tuple[str, ...]
