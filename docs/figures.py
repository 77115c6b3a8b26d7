"""Every picture of the pages, into docs/_static or benchmarks: `make figures`.

Those of the gallery are made by its examples, in `make docs`. Here are those that other
pages show: of the example table and of digits, that of scores by epsilon from stored
results, that of the report from a browser, if there is one, and those of 60,000 images
from a folder with mnist.npz, fashion_mnist.npz and cifar10_jpeg.npz: `make figures
DATA=folder`. Names of pictures limit what is made.
"""

import argparse
import os
import tempfile
from io import BytesIO
from itertools import chain, product
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont
from sklearn.datasets import load_digits

from benchmarks.image_sets import read_image_set
from skdpgen import (
    DPMERFSynthesizer,
    DPPairwiseSynthesizer,
    Generator,
    all_synthesizers,
)
from skdpgen.benchmark import read_rows
from skdpgen.benchmark._result_tables import METRICS
from skdpgen.datasets import load_example
from skdpgen.plotting import plot_images, plot_overview, plot_pairs
from skdpgen.report import as_html, report_content
from tests.report._chromium import Chromium, browser

DOCS = Path(__file__).parent
STATIC = DOCS / "_static"
PLACE = DOCS.parent / "benchmarks"  # whose page shows scores by epsilon
COLOURS = 96  # of a picture's palette: it halves the file, and nobody sees it

FEES = ["n_products", "monthly_fee"]
OF_TABLES = ("merf_pairs", "pairwise_overview", "pairwise_pairs", "quickstart_pairs")
DIGITS, GARMENTS, IN_COLOUR = "mnist", "fashion_mnist", "cifar10_jpeg"
ALL = ["DPMERFSynthesizer", "DPHPSynthesizer", "DPNTKSynthesizer"]
BY_STEPS = "DPKernelSynthesizer"
BOTH, BUDGETS = [DIGITS, GARMENTS], [0.2, 1.0, 10.0]
# picture: sets, methods and budgets of its panels, images of each class, and by rows of
OF_IMAGES = {
    "images_mnist": ([DIGITS], [*ALL, BY_STEPS], BUDGETS, 10, "budgets"),
    "images_fashion": ([GARMENTS], ALL, [1.0, 0.2], 10, "budgets"),
    "images_mge": (
        [DIGITS, GARMENTS],
        ["DPMGESynthesizer"],
        [0.2, 1.0, 10.0],
        8,
        "sets",
    ),
    "images_mepf": (BOTH, ["DPMEPFSynthesizer"], BUDGETS, 10, "sets"),
    "images_cifar10": (
        [IN_COLOUR],
        ["DPMGESynthesizer", "DPMEPFSynthesizer", *ALL, BY_STEPS, "DPGANSynthesizer"],
        [1.0, 10.0],
        5,
        "budgets",
    ),
}
ENDLESS = 40.0  # where ε = ∞ is drawn
LINES = {
    "real": {"color": "0.4", "linestyle": "--", "label": "real rows"},
    "DPIndependentSynthesizer": {"color": "tab:blue", "label": "baseline"},
    "DPPairwiseSynthesizer": {"color": "tab:orange", "label": "DP-Pairwise"},
}
SAID = {DIGITS: "Digits", GARMENTS: "Garments", BY_STEPS: "DP-Kernel by steps"}


def main() -> None:
    """Make the pictures that are named, or all that can be made here."""
    known = [*OF_TABLES, "digits", "by_epsilon", "report", *OF_IMAGES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(known))
    parser.add_argument("--data", type=Path, help="folder of the sets of images")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        parser.error(f"no picture is called {', '.join(unknown)}")
    wanted = set(options.names or known)
    for name in OF_TABLES:
        if name in wanted:
            of_table(name)
    if "digits" in wanted:
        of_digits()
    if "by_epsilon" in wanted:
        of_results()
    if "report" in wanted:
        of_report()
    for name in OF_IMAGES:
        if name in wanted:
            of_images(name, options.data)


def of_table(name: str) -> None:
    """Draw the example table beside synthetic rows of it."""
    X, y = load_example(20_000)
    settings = {"classes": ["left", "stayed"], "random_state": 0}
    if name == "merf_pairs":
        few = Generator(n_latent=4, max_iter=250)
        synthesizer = DPMERFSynthesizer(
            3.0, feature_norm=0.3, generator=few, **settings
        )
    else:
        epsilon = 1.0 if name == "quickstart_pairs" else 3.0
        synthesizer = DPPairwiseSynthesizer(epsilon, **settings)
    X_synthetic, y_synthetic = synthesizer.fit(X, y).sample()
    if name == "pairwise_overview":
        keep_figure(name, plot_overview((X, y), (X_synthetic, y_synthetic)), 70)
        return
    others = ["education", "income"] if name == "quickstart_pairs" else FEES
    columns = ["job", "weekly_hours", *others]
    keep_figure(name, plot_pairs(X, X_synthetic, columns=columns, max_pairs=2), 75)


def of_digits() -> None:
    """Draw digits of DP-MERF, a row for each."""
    pixels, labels = load_digits(return_X_y=True)
    synthesizer = DPMERFSynthesizer(
        10.0,
        classes=range(10),
        n_features=2000,
        generator=Generator(max_iter=300),
        random_state=0,
    )
    synthesizer.fit(pixels[:1300].reshape(-1, 8, 8) / 16, labels[:1300])
    keep_figure("digits", plot_images(*synthesizer.sample(2000)), 80)


def of_results() -> None:
    """Draw the best model and the two-way distance by epsilon, of stored rows."""
    rows = pd.DataFrame(read_rows(PLACE / "results" / "tables" / "epsilons.jsonl"))
    tables = list(dict.fromkeys(rows["table"]))
    figure, panels = plt.subplots(2, len(tables), figsize=(9, 5), sharex=True)
    for column, table in zip(panels.T, tables, strict=True):
        mine = rows[rows["table"] == table]
        metric = next(one for one in METRICS if mine[f"{one}_best"].notna().any())
        scores = (
            (f"{metric}_best", f"best model, {METRICS[metric]}"),
            ("tv2", "two-way"),
        )
        for panel, (score, said) in zip(column, scores, strict=True):
            for method, about in LINES.items():
                one = mine[mine["name"] == method]
                if method == "real":
                    panel.axhline(one[score].iloc[0], **about)
                    continue
                means = one.groupby("epsilon")[score].agg(["mean", "min", "max"])
                at = means.index.to_numpy().clip(max=ENDLESS)
                panel.plot(at, means["mean"], marker="o", markersize=4, **about)
                band = {"color": about["color"], "alpha": 0.15, "linewidth": 0}
                panel.fill_between(at, means["min"], means["max"], **band)
            panel.set(xscale="log", ylabel=said)
            panel.set_ylim(bottom=0 if score == "tv2" else None)
        column[0].set_title(table, fontsize=10)
        ticks = [0.1, 0.3, 1, 3, 10, ENDLESS]
        column[1].set_xticks(ticks, [*(f"{tick:g}" for tick in ticks[:-1]), "∞"])
        column[1].minorticks_off()
        column[1].set_xlabel("ε")
    panels[0, 0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    keep_figure("by_epsilon", figure, 110, PLACE)


def of_report() -> None:
    """Photograph the head of a report of the example table, light and dark."""
    if browser() is None:
        print("report: left out, no browser (apt-get install chromium)")
        return
    X, y = load_example(20_000)
    synthesizer = DPPairwiseSynthesizer(classes=["left", "stayed"]).fit(X, y)
    content = report_content(synthesizer)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(as_html(content), encoding="utf-8")
        with Chromium(folder) as page:
            page.open(path)
            shown = []
            for scheme in ("light", "dark"):
                page.emulate(scheme=scheme)
                shown.append(Image.open(BytesIO(page.picture(1100, 960))))
    both = Image.new("RGB", (2 * 1100, 960), "white")
    both.paste(shown[0], (0, 0))
    both.paste(shown[1], (1100, 0))
    keep("report", both)


def of_images(name: str, data: Path | None) -> None:
    """Fit the methods of a picture, minutes for each panel, and paste the panels."""
    sets, methods, budgets, n_columns, by = OF_IMAGES[name]
    if data is None:
        print(f"{name}: left out, it needs --data")
        return
    if by == "sets":
        lines = [list(product([one], methods, budgets)) for one in sets]
    else:
        lines = [list(product(sets, methods, [budget])) for budget in budgets]
    panels = [[panel(*cell, n_columns, by, data) for cell in line] for line in lines]
    width, height = (max(one.size[k] for one in chain(*panels)) for k in (0, 1))
    whole = Image.new("RGB", (width * len(panels[0]), height * len(panels)), "white")
    for at, line in enumerate(panels):
        for k, one in enumerate(line):
            whole.paste(one, (k * width, at * height))
    keep(name, whole)


def panel(
    name: str, method: str, epsilon: float, n_columns: int, by: str, data: Path
) -> Image.Image:
    """Draw samples of one fit under a title."""
    rows = drawn_images(name, method, epsilon, data)
    file = BytesIO()
    plot_images(*rows, n_columns=n_columns).savefig(file, dpi=75, bbox_inches="tight")
    drawn = Image.open(file)
    method = SAID.get(method, method.removesuffix("Synthesizer").replace("DP", "DP-"))
    title = f"{SAID[name] if by == 'sets' else method}, ε = {epsilon:g}"
    font = ImageFont.truetype(findfont("DejaVu Sans"), 14)  # Pillow's has no ε
    width = max(drawn.width, int(font.getlength(title)) + 12)
    whole = Image.new("RGB", (width, drawn.height + 20), "white")
    whole.paste(drawn, (0, 20))
    ImageDraw.Draw(whole).text((6, 1), title, "black", font)
    return whole


def drawn_images(name: str, method: str, epsilon: float, data: Path) -> tuple[Any, Any]:
    """Fit a method to a set of images, and draw 1,000."""
    images, labels, *_ = read_image_set(data / f"{name}.npz")
    synthesizer = for_images(method, epsilon)
    return synthesizer.fit(images, labels).sample(1000, random_state=0)


def for_images(method: str, epsilon: float) -> Any:
    """Return a method as pictures show it."""
    settings = {"algorithm": "per_step"} if method == BY_STEPS else {}
    make = all_synthesizers()[method]
    return make(epsilon, 1e-5, classes=range(10), random_state=0, **settings)


def keep_figure(name: str, figure: Figure, dpi: int, folder: Path = STATIC) -> None:
    """Write a figure, with few colours."""
    file = BytesIO()
    figure.savefig(file, dpi=dpi)
    keep(name, Image.open(file), folder)


def keep(name: str, picture: Image.Image, folder: Path = STATIC) -> None:
    """Write a picture, with few colours."""
    path = folder / f"{name}.png"
    part = path.with_suffix(f".{os.getpid()}.png")
    picture.convert("RGB").quantize(COLOURS).save(part, optimize=True)
    part.replace(path)
    print(f"{path.relative_to(DOCS.parent)}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
