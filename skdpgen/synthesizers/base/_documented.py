"""Texts that the docstrings of several estimators share: their one source.

Docstrings hold these texts in full, as editors read the source.
``python -m tests.docstrings --write`` copies them there, and a test compares. Nothing
here is used at run time.
"""

import re

CLASS = """
epsilon : float, default=1.0
    Privacy budget of one call to :meth:`fit`, everything included.
    ``epsilon=float("inf")`` adds no noise and promises nothing.

delta : float or None, default=None
    How much any probability may exceed the factor that epsilon allows. None is a
    power of ten: at most 1e-5 and a tenth of one over the number of rows. Under
    "add_remove", which hides that number, it is 1e-7, right for up to a million
    rows. ``privacy_.delta`` is what was used.

adjacency : {"replace", "add_remove"}, default="replace"
    Which tables are neighbours; "replace" makes the number of rows public.

schema : Schema, dict or None, default=None
    Public column types, bounds and categories; a dict has them by column name, as
    ``{"age": Integer(0, 120)}``. Columns that are left out, all of them if None,
    are discovered privately from the same budget.

classes : array-like or None, default=None
    Public class labels. None takes the schema's target, or discovers them.

task : {"auto", "classification", "regression"}, default="auto"
    "auto" goes by the dtype of y: floats and times are regression. Whole numbers
    and text are classes, unless released labels show that they are numbers.

class_weight : "balanced", dict or None, default=None
    What the error of each class is multiplied by. "balanced" divides it by the
    noisy share of the class, so rare classes count as much as common ones; a dict
    has a weight by label, 1 where it has none. Labels are sampled as often as in
    the data either way; ``sample(class_distribution=...)`` asks for others.

generator : Generator or None, default=None
    Layers, training steps and other settings of the generator; None has their
    defaults. See :class:`Generator`; a search names them ``generator__max_iter``.

discriminator : Discriminator or None, default=None
    Layers, private steps and other settings of the discriminator; None has their
    defaults. See :class:`Discriminator`; a search names them
    ``discriminator__max_iter``.

device : str or torch.device, default="auto"
    "auto" takes a GPU if there is one.

random_state : int, RandomState, Generator or None, default=None
    Seed of everything but the privacy noise, which cannot be seeded.

verbose : int, default=0
    1 shows progress bars.

privacy_ : PrivacyReport
    The certificate: one (epsilon, delta) and every release that was paid for.

schema_ : Schema
    Given, or discovered.

release_ : Release
    The noisy embedding; all that the generator was made of.

kernel_ : RowKernel or ImageKernel
    The feature map, and how rows become what it takes.

cells_ : dict
    The cells of each column.

settings_ : Settings
    The method's parameters as they were used.

generator_ : TableGenerator or ImageGenerator
    The torch module.

loss_curve_ : list of float
    Loss of every training step; 1 is what independent columns leave.

n_iter_ : int
    Training steps that were made; training may stop at the noise.

relations_learned_ : str
    "columns and relations"; "columns by class only" if no relation exceeded the
    noise; "single columns only" if there were no labels either; "relations that
    were not tested against the noise" of steps on rows; or "images".

classes_ : ndarray
    Class labels, of a classification.

task_ : {"classification", "regression"} or None
    What y was.

n_samples_ : int
    Rows that were fitted (a noisy number under "add_remove").

n_features_in_, feature_names_in_ : int and ndarray
    Columns that were fitted.
"""
FIT = """
X : table of shape (n_samples, n_features)
    A pandas or other data frame, an array, or :class:`~skdpgen.tables.Chunks`.

y : array-like of shape (n_samples,) or None, default=None
    Labels, numbers, or nothing.

public_data : table, images, pair (X, y) or None, default=None
    Public rows with the columns of X, or public images of the same size, with
    or without labels: of another year, state or hospital. They use no budget.
    That they are public is your word: nothing protects them.

groups : None
    Must be None: persons with several rows are not supported.
"""
IMAGES = """
X : table of shape (n_samples, n_features), or images
    A pandas or other data frame, an array, or :class:`~skdpgen.tables.Chunks`.
    Arrays (n, height, width) and (n, channels, height, width) are images.
"""
SAMPLE = """
n_samples : int or None, default=None
    Number of rows; None takes as many as were fitted.

y : array-like or None, default=None
    Labels (or numbers) to draw rows for, one each.

class_distribution : "balanced", dict or None, default=None
    How often each class is drawn: as in the data, all alike, or by their
    shares, ``{"yes": 0.2, "no": 0.8}``. Shares are from 0 to 1 and sum to 1; a
    class that is not listed is not drawn. What was learnt is the same.

random_state : int, RandomState, Generator or None, default=None
    An int gives the same rows each time; None gives new ones.
"""
SAMPLED = """
X : table
    In the container of the fitted X, with its columns and dtypes.

y : Series or ndarray
    Only if fitted with labels.
"""


def by_first_word(texts: str) -> dict[str, str]:
    """Return texts, which blank lines part, by their first words."""
    paragraphs = texts.strip().split("\n\n")
    return {re.match(r"\w+", text)[0]: text for text in paragraphs}  # type: ignore[index]


OF_CLASS = by_first_word(CLASS)
OF_FIT = by_first_word(FIT)
OF_FIT_OF_IMAGES = OF_FIT | by_first_word(IMAGES)
OF_SAMPLE = by_first_word(SAMPLE)
SAMPLED_ROWS = by_first_word(SAMPLED)

# What one estimator says beside a shared text, in the lines that follow it.
BESIDES: dict[tuple[str, str], str] = {
    ("DPGANSynthesizer", "generator"): (
        "Its ``max_iter`` must be None: it takes steps as the discriminator does."
    ),
    ("DPDRESynthesizer", "discriminator"): 'Of "sgd".',
    ("DPMGESynthesizer", "device"): (
        "It is of images: of the lens, and of the classifiers of the vote."
    ),
    ("DPKernelSynthesizer", "generator"): (
        '**Its steps of "per_step" share the budget**: more of them are noisier.'
    ),
}
# Texts of shared names that an estimator has of its own.
OWN: dict[str, tuple[str, ...]] = {
    "DPDRESynthesizer": (
        "release_",
        "cells_",
    ),
    "DPGANSynthesizer": (
        "release_",
        "loss_curve_",
    ),
    "DPIndependentSynthesizer": (
        "verbose",
        "release_",
        "cells_",
    ),
    "DPKernelSynthesizer": (
        "release_",
        "loss_curve_",
    ),
    "DPMGESynthesizer": (
        "class_weight",
        "verbose",
        "release_",
        "cells_",
    ),
    "DPPairwiseSynthesizer": (
        "release_",
        "loss_curve_",
    ),
}
