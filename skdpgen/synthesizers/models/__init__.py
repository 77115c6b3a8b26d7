"""From a release to rows: denoising it, training a generator, and drawing."""

from skdpgen.synthesizers.models._codes_model import CodesModel
from skdpgen.synthesizers.models._column_facts import (
    counted_columns,
    describe_columns,
    describe_target,
    dropped_rows,
    with_ranges,
)
from skdpgen.synthesizers.models._copula_model import CopulaModel, NormalScores
from skdpgen.synthesizers.models._deformations import Deformations
from skdpgen.synthesizers.models._denoised import Denoised, mixing
from skdpgen.synthesizers.models._even_draws import draw_given, systematic
from skdpgen.synthesizers.models._image_model import (
    Density,
    ImageModel,
    learn_images,
    new_generator,
    train_images,
)
from skdpgen.synthesizers.models._lost_rows import Loss, losses
from skdpgen.synthesizers.models._mixture_model import MixtureModel
from skdpgen.synthesizers.models._picture_mixture import (
    PictureMixture,
    refuse_container,
    shares_of_counts,
)
from skdpgen.synthesizers.models._public_items import PublicItems
from skdpgen.synthesizers.models._ratio_model import RatioModel
from skdpgen.synthesizers.models._single_columns import single_columns
from skdpgen.synthesizers.models._table_model import (
    TableModel,
    learn_table,
    new_table_generator,
    train_table,
)

__all__ = [
    "CodesModel",
    "CopulaModel",
    "Deformations",
    "Denoised",
    "Density",
    "ImageModel",
    "Loss",
    "MixtureModel",
    "NormalScores",
    "PictureMixture",
    "PublicItems",
    "RatioModel",
    "TableModel",
    "counted_columns",
    "describe_columns",
    "describe_target",
    "draw_given",
    "dropped_rows",
    "learn_images",
    "learn_table",
    "losses",
    "mixing",
    "new_generator",
    "new_table_generator",
    "refuse_container",
    "shares_of_counts",
    "single_columns",
    "systematic",
    "train_images",
    "train_table",
    "with_ranges",
]
