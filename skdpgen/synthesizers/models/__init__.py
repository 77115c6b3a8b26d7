"""From a release to rows: denoising it, training a generator, and drawing."""

from skdpgen.synthesizers.models._column_report import (
    Loss,
    counted_columns,
    describe_columns,
    describe_target,
    dropped_rows,
    losses,
    with_ranges,
)
from skdpgen.synthesizers.models._coupling import Coupling, scores_in_cells
from skdpgen.synthesizers.models._decoding import (
    class_array,
    decode_rows,
    decode_target,
    draw_given,
    label_codes,
    systematic,
    target_codes,
)
from skdpgen.synthesizers.models._denoised import (
    Denoised,
    class_factors,
    mixing,
    single_columns,
)
from skdpgen.synthesizers.models._image_model import (
    CodesModel,
    Deformations,
    Density,
    ImageModel,
    learn_images,
    new_generator,
    train_images,
)
from skdpgen.synthesizers.models._mixture_model import (
    CopulaModel,
    MixtureModel,
    PictureMixture,
    refuse_container,
    shares_of_counts,
)
from skdpgen.synthesizers.models._ratio_model import PublicItems, RatioModel
from skdpgen.synthesizers.models._score_products import (
    NormalScores,
    ScoreProducts,
    ScoresOfRows,
    expected_noise,
    products_share,
    release_products,
)
from skdpgen.synthesizers.models._table_model import (
    TableModel,
    learn_table,
    new_table_generator,
    train_table,
)

__all__ = [
    "CodesModel",
    "CopulaModel",
    "Coupling",
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
    "ScoreProducts",
    "ScoresOfRows",
    "TableModel",
    "class_array",
    "class_factors",
    "counted_columns",
    "decode_rows",
    "decode_target",
    "describe_columns",
    "describe_target",
    "draw_given",
    "dropped_rows",
    "expected_noise",
    "label_codes",
    "learn_images",
    "learn_table",
    "losses",
    "mixing",
    "new_generator",
    "new_table_generator",
    "products_share",
    "refuse_container",
    "release_products",
    "scores_in_cells",
    "shares_of_counts",
    "single_columns",
    "systematic",
    "target_codes",
    "train_images",
    "train_table",
    "with_ranges",
]
