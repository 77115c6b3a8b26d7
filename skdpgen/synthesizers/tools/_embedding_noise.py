"""How far noise moves a mean embedding and the loss of a generator; needs no data."""

import math
from dataclasses import dataclass, replace

from scipy.special import chdtri, ndtri

from skdpgen.privacy import (
    Adjacency,
    Ledger,
    PrivacyBudget,
    Signed,
    Structure,
    default_delta,
    sensitivity,
)
from skdpgen.synthesizers.opening._unknown_columns import COUNT_SHARE
from skdpgen.utils import check_count

FAILURE = 0.05  # probability that a bound does not hold, unless another is given


@dataclass(frozen=True)
class EmbeddingNoise:
    r"""How far noise moves a mean embedding, and the loss of a generator; text.

    Each of n rows adds :math:`\phi(x) \otimes e_y`, of norm at most B: a row is in the
    block of one class. With Gaussian noise N on their sum, the released mean of rows is
    :math:`\tilde T = T + e`, :math:`e = N / n`. A generator with the mean embedding E
    has the private loss :math:`\|\tilde T - E\|^2` instead of
    :math:`\|T - E\|^2`, the squared MMD; its distance is :math:`d = \|T - E\|`.

    *A private number of rows.* The sum is divided by a noisy number :math:`n + \nu`, so
    :math:`e = (N - \nu T) / (n + \nu)` and, as :math:`\|T\| \le B`,
    :math:`\|e\| \le (\|N\| + |\nu| B) / (n - |\nu|)`. Bounds include this term;
    averages are those of first order in :math:`\nu / n`.

    Proofs are with the methods. Propositions are those of DP-MEPF [1]_; where a bound
    here is smaller, :doc:`/papers/dp_mepf` says why. What a fit does with the release
    before training, as shrinking it, changes e.

    Parameters
    ----------
    n : float
        Rows.
    n_features : int
        Numbers of a row.
    classes : int
        Number of blocks of the sum; each has ``n_features`` numbers.
    noise_std : float
        Noise of each number of the *sum*.
    norm : float
        B, the largest norm of a row.
    diameter : float
        Largest distance of two rows, labels included, hence of two mean embeddings.
    count_std : float, default=0
        Noise of the number of rows; 0 if it is public.

    References
    ----------
    .. [1] Harder, Jalali Asadabadi, Sutherland & Park, "Pre-trained perceptual features
       improve differentially private image generation", TMLR 2023, section 4 and
       appendix A.

    Examples
    --------
    >>> noise = EmbeddingNoise(10_000, 100, 1, noise_std=20.0, norm=1.0, diameter=2.0)
    >>> noise.distance, noise.sampling
    (0.02, 0.01)
    >>> print(noise)
    noise moves a mean embedding of 100 features by about 0.02 (of norm 1 at most),
    sampling by up to 0.01; noise is the smaller one from about 40,000 rows on
    """

    n: float
    n_features: int
    classes: int
    noise_std: float
    norm: float
    diameter: float
    count_std: float = 0.0

    @property
    def mean_square(self) -> float:
        r"""Mean of :math:`\|e\|^2`: the variances of all numbers, added up.

        With D numbers of all classes it is :math:`D s^2 / n^2`, exactly; the expected
        private loss of each generator is larger than its loss by this. A noisy number
        of rows of std t adds up to :math:`t^2 B^2 / n^2`.
        """
        from_features = self._n_numbers * self.noise_std**2
        return (from_features + (self.count_std * self.norm) ** 2) / self.n**2

    @property
    def distance(self) -> float:
        r"""How far noise moves the embedding: the root of the mean of its square.

        The mean of :math:`\|e\|` is at most this, by Jensen's inequality, and at least
        a factor :math:`\sqrt{1 - 1/D}` of it, since a norm has at most the variance of
        one number (Poincaré).
        """
        return math.sqrt(self.mean_square)

    @property
    def sampling(self) -> float:
        r"""How far, at most, sampling moves the embedding from that of all such rows.

        Also the root of a mean square. *Proof.* For n independent rows the mean square
        is :math:`(\mathrm E \|\phi\|^2 - \|\mathrm E \phi\|^2) / n \le B^2 / n`. It is
        independent of the noise, so squares add up. ∎
        """
        return self.norm / math.sqrt(self.n)

    @property
    def enough_rows(self) -> float:
        r"""Rows from which on noise is smaller than the bound on sampling.

        The noise is proportional to 1/n, and sampling to :math:`1 / \sqrt n`.
        """
        return self.n * self.mean_square / self.sampling**2

    def distance_bound(self, failure: float = FAILURE) -> float:
        r"""Return a bound on :math:`\|e\|` that fails with this probability.

        *Proof.* Noise has the same std s in all D numbers, so
        :math:`\|N\|^2 / s^2` is chi-square with D degrees of freedom, and its quantile
        is exact. (With different stds, lemma 1 of Laurent and Massart gives equation 14
        of [1]_; here it is larger.) The noise of a private number of rows stays within
        its own quantile; each of both gets half of the failures. ∎
        """
        _check(failure=failure)
        rows = self._rows_bound(failure / 2)
        square = chdtri(self._n_numbers, failure / 2 if self.count_std else failure)
        if rows >= self.n:
            return math.inf
        length = self.noise_std * math.sqrt(square) + rows * self.norm
        return float(length / (self.n - rows))

    def mean_loss_change(self, distance: float) -> float:
        r"""Return a bound on the mean absolute change of one generator's loss.

        *Proof.* The change is :math:`\|e\|^2 + 2 e^\top a` with :math:`a = T - E`,
        :math:`\|a\| = d`. Let each number of e have std r. The mean absolute change is
        at most :math:`\mathrm E \|e\|^2 + 2\, \mathrm E |e^\top a|
        = D r^2 + 2 \sqrt{2/\pi}\, r d` (proposition A.1), and at most the root of the
        mean square, :math:`D^2 r^4 + 2 D r^4 + 4 r^2 d^2`, where the product of both
        terms has mean 0 by symmetry. The smaller one is returned. With a private number
        of rows, the first one is, and r gets what e then has along a. ∎
        """
        _check(distance=distance)
        square = self.mean_square
        along = math.hypot(self.noise_std, self.count_std * self.norm) / self.n
        first = square + 2.0 * math.sqrt(2.0 / math.pi) * along * distance
        if self.count_std:
            return first
        fourth = square**2 * (1.0 + 2.0 / self._n_numbers)
        return min(first, math.sqrt(fourth + (2.0 * along * distance) ** 2))

    def loss_change_bound(
        self, distance: float | None = None, failure: float = FAILURE
    ) -> float:
        r"""Return how far noise can move the loss: of one generator, or of any.

        *Proof.* The change is :math:`\|e\|^2 + 2 e^\top a`, a as above. For one
        generator, chosen without the noise, :math:`N^\top a` is Gaussian of std s d:
        its quantile and :meth:`distance_bound` get half of the failures each
        (proposition A.2). For all generators at once
        :math:`|e^\top a| \le \|e\| \Delta` with the diameter :math:`\Delta`, so that
        :meth:`distance_bound` suffices, without a union bound (proposition A.3). ∎

        Parameters
        ----------
        distance : float or None, default=None
            d of one generator; None means all generators at once, also those that are
            trained on the release.
        failure : float, default=0.05
            Probability that the bound does not hold.
        """
        if distance is None:
            length = self.distance_bound(failure)
            return length**2 + 2.0 * length * self.diameter
        _check(failure=failure, distance=distance)
        length, rows = self.distance_bound(failure / 2), self._rows_bound(failure / 4)
        if rows >= self.n:
            return math.inf
        along = self.noise_std * _normal(failure / 2) + rows * self.norm
        return length**2 + 2.0 * distance * along / (self.n - rows)

    def excess_loss_bound(
        self, distance: float | None = None, failure: float = FAILURE
    ) -> float:
        r"""Return how much more loss the private minimiser can have than the best one.

        *Proof.* Let a and b be :math:`T - E` of the best generator and of the private
        minimiser, so :math:`\|b + e\| \le \|a + e\|`. Squared, this is
        :math:`\|b\|^2 - \|a\|^2 \le 2 e^\top (a - b) \le 2 \|e\| \Delta`, and the left
        side is at most :math:`\Delta^2` (propositions 4.2 and A.4). By the triangle
        inequality :math:`\|b\| \le \|a + e\| + \|e\| \le d + 2 \|e\|`, thus
        :math:`\|b\|^2 - \|a\|^2 \le 4 \|e\|^2 + 4 \|e\| d` (4.3 and A.5). The smallest
        of the three is returned, for :meth:`distance_bound`. A generator whose private
        loss is larger than the least one by h has up to h more in the first. ∎

        Parameters
        ----------
        distance : float or None, default=None
            d of the best generator; 0 if one can match the embedding. None if unknown.
        failure : float, default=0.05
            Probability that the bound does not hold.
        """
        length = self.distance_bound(failure)
        bound = min(2.0 * length * self.diameter, self.diameter**2)
        if distance is None:
            return bound
        _check(distance=distance)
        return min(bound, 4.0 * length**2 + 4.0 * length * distance)

    def of_class(self, fraction: float, count_std: float = 0.0) -> "EmbeddingNoise":
        r"""Return the noise of the mean of one class, which has a fraction of the rows.

        Its block of the sum has ``n_features`` numbers with the same noise, and is
        divided by fewer rows: the noise is larger by
        :math:`1 / (\omega \sqrt{K})` for a fraction :math:`\omega` and K classes.

        Parameters
        ----------
        fraction : float
        count_std : float, default=0
            Noise of its number of rows; 0 if it is public.

        Examples
        --------
        >>> noise = EmbeddingNoise(1000, 100, 4, 1.0, 1.0, 2.0)
        >>> rare = noise.of_class(0.01)
        >>> round(noise.distance, 3), round(rare.distance, 3)
        (0.02, 1.0)
        """
        if not 0 < fraction <= 1:
            raise ValueError(f"fraction must be in (0, 1]. Got {fraction!r} instead.")
        rows = self.n * fraction
        return replace(self, n=rows, classes=1, count_std=count_std)

    @property
    def _n_numbers(self) -> int:
        """D: the numbers of all classes."""
        return self.n_features * self.classes

    def _rows_bound(self, failure: float) -> float:
        """Return a bound on the noise of the number of rows."""
        return self.count_std * _normal(failure)

    def __str__(self) -> str:
        """Return it in words."""
        by_class = f" x {self.classes} classes" if self.classes > 1 else ""
        return (
            f"noise moves a mean embedding of {self.n_features} features{by_class} by "
            f"about {self.distance:.2g} (of norm {self.norm:.3g} at most), sampling by "
            f"up to {self.sampling:.2g}; noise is the smaller one from about "
            f"{float(f'{self.enough_rows:.2g}'):,.0f} rows on"
        )


def embedding_noise(
    n: int,
    n_features: int,
    epsilon: float = 1.0,
    delta: float | None = None,
    *,
    adjacency: str = "replace",
    classes: int = 1,
    structure: Structure | None = None,
    share: float | None = None,
) -> EmbeddingNoise:
    r"""Return how far noise moves a mean embedding, from public quantities only.

    *Noise.* One row moves the sum by at most the sensitivity of the structure, so noise
    of that over :math:`\mu \sqrt{share}` in each number is private. Under "replace"
    the number of rows is public; under "add_remove" estimators release it with 1 % of
    the budget, and divide by it.

    Parameters
    ----------
    n : int
        Rows; a guess will do.
    n_features : int
        Numbers of a row: all parts together, but of one class.
    epsilon : float, default=1.0
        The budget.
    delta : float or None, default=None
        Its delta; None is what a fit of ``n`` rows would choose.
    adjacency : {"replace", "add_remove"}, default="replace"
        Which tables are neighbours.
    classes : int, default=1
        Number of classes; 1 without labels.
    structure : Structure or None, default=None
        Norms and signs of a row, part by part. None is
        :class:`~skdpgen.privacy.Signed`: any vector of norm 1.
    share : float or None, default=None
        Fraction of the budget for this release; None is all that the number of rows
        leaves. Certificates state it.

    Returns
    -------
    EmbeddingNoise
        Its bounds are in the units of ``structure``.

    See Also
    --------
    plan : What to expect of a whole fit of a table.

    Examples
    --------
    A thousand Fourier features; then both moments of DP-MEPF, which are not negative:

    >>> from skdpgen.privacy import NonNegative, Weighted
    >>> print(embedding_noise(50_000, 1000, classes=10))
    noise moves a mean embedding of 1000 features x 10 classes by about 0.017 (of norm
    1 at most), sampling by up to 0.0045; noise is the smaller one from about
    710,000 rows on
    >>> moments = Weighted((NonNegative(), NonNegative()), (1.0, 1.0))
    >>> noise = embedding_noise(50_000, 2 * 303_104, classes=10, structure=moments)
    >>> round(noise.distance, 2), round(noise.excess_loss_bound(distance=0.0), 1)
    (0.42, 0.7)
    """
    n = check_count(n, "n")
    n_features = check_count(n_features, "n_features")
    classes = check_count(classes, "classes")
    structure = Signed() if structure is None else structure
    if not isinstance(structure, Structure):
        raise TypeError(
            "structure must be a Structure, such as Signed() or NonNegative(). Got "
            f"{structure!r} instead."
        )
    neighbours = Adjacency.parse(adjacency)
    is_size_public = neighbours is Adjacency.REPLACE
    if delta is None:
        delta = default_delta(n if is_size_public else None)
    ledger = Ledger(PrivacyBudget(epsilon, delta, neighbours))
    most = 1.0 if is_size_public else 1.0 - COUNT_SHARE
    share = most if share is None else share
    if not 0 < share <= most:
        raise ValueError(f"share must be in (0, {most:g}]. Got {share!r} instead.")
    return EmbeddingNoise(
        n,
        n_features,
        classes,
        ledger.noise_std(share=share, sensitivity=sensitivity(structure, neighbours)),
        structure.bound,
        structure.replace(),
        count_std=count_noise(ledger),
    )


def count_noise(ledger: Ledger) -> float:
    """Return the noise of the number of rows; 0 where it is public."""
    if ledger.budget.adjacency is Adjacency.REPLACE:
        return 0.0
    return ledger.noise_std(share=COUNT_SHARE, sensitivity=1.0)


def _normal(failure: float) -> float:
    """Return what a standard normal number exceeds in size with this probability."""
    return float(-ndtri(failure / 2.0))


def _check(failure: float = FAILURE, distance: float = 0.0) -> None:
    if not 0 < failure < 1:
        raise ValueError(f"failure must be in (0, 1). Got {failure!r} instead.")
    if not 0 <= distance < math.inf:
        raise ValueError(f"distance must be in [0, inf). Got {distance!r} instead.")
