r"""Old names and phrases of our own do not come back.

Names that 0.1.0 renamed would not run, and phrases of an earlier private dialect make
readers stumble. What to write instead is beside each. `ALLOWED` lists the places that
need an old word, each with its reason.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts),
    *(ROOT / "benchmarks").glob("*.md"),
    *(ROOT / "changelog").glob("*.md"),
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SOURCES = sorted((ROOT / "skdpgen").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))

# ------------------------------------------------------- names that were renamed

NAMES = {  # in pages, examples and the package: what stands for a parameter or name
    r"\brelease=[\"']": "algorithm=, of DPKernelSynthesizer",
    r"\bmode=[\"'](scratch|finetune|latent|inversion)": "algorithm=",
    r"\bmethod=[\"'](one_shot|sgd)": "algorithm=",
    r"\bnumbers=[\"']": "numeric_encoding=",
    r"\bprior=[\"']": "augmentation=",
    r"\bclass_shares\b": "class_distribution",
    r"\brefit\(|`refit\b": "retrain",
    r"\blearnt_(?!\w)": "relations_learned_",
    r"NothingLearnt": "NothingLearnedWarning",
    r"discriminator_rate": "Discriminator(learning_rate=)",
    r"n_discriminator_steps": "Discriminator(steps_per_generator_step=)",
    r"\bpreset=[\"'](paper|default)": "from_preset",
    r"\b(fourier|tangent)_norm\b": "feature_norm",
    r"\bencoder_budget\b": 'Generator(network="private")',
    r"\blens_budget\b": 'lens="private", of half of the budget',
    r"\bproduct_size\b": "interaction_degree",
    r"PrivacyLeakWarning": "Schema.infer(X) keeps its mark",
    r"schema=[\"']infer": "Schema.infer(X)",
    r"python -m skdpgen\.benchmark": "python -m benchmarks",
    r"\bsynth(esizer)?\.npz\b|\bmodel\.npz\b": "model.skdpgen",
}
PARAMETERS = {  # in pages and examples; internal functions may have them
    r"\bnorm_bound\b": "max_grad_norm",
    r"\bn_together\b": "interaction_degree",
    r"\bn_between\b": "Discriminator(steps_per_generator_step=)",
    r"\bproduct_order\b": "order=, a pair",
    r"\bgiven=|`given`": "conditions=",
    r"`prior`": "augmentation=",
}

# ------------------------------------------------------- phrases of our own

PHRASES = {  # everywhere
    r"\bthe floors?\b|^floors?\b|\*floors?\b": "the independent baseline",
    r"\b(tells?|told|telling)( \w+){0,2} apart\b": "detection; distinguish",
    r"\b(stands?|stood) out of\b|\bout of (the |their )?noise": "exceeds the noise",
    r"\btold (from|by) noise": "is not distinguishable from noise",
    r"leave the building": "must not leave the organisation",
    r"\bso many (of (its|the|those)|times)\b": "the number of",
    r"\b(drew|drawn|draw) that many\b": "n",
    r"\bis no error\b|\bgives no error\b": "never raises",
    r"\bcounts? nowhere\b": "is ignored",
    r"\bgoes with what\b": "relationships between columns",
    r"\bin earnest\b": "in production",
    r"\ba (column|minute|row|word) or two\b": "one or two columns",
    r"(?-i:\b(Whoever|Whatever)\b)": "anyone who; name the thing",
    r"\b(of|by|from) the release alone\b": "from the release only",
    r"\b(draw|draws|drew|drawn|learnt|fitted) anew\b": "again; resample",
    r"\blearnt by heart\b": "memorised",
    r"\bfirst look\b": "the release of types",
    r"\bmakes? a look\b|\ba look at (the )?(columns|rows)\b": "a release, a query",
    r"\bthat nobody has\b|empty in truth": "truly empty",
    r"\bthe twelve\b(?! (classifiers|models|regressors|most))": "twelve classifiers",
    r"\bcame in\b": "in its original container and dtype",
    r"not quite white": "faintly shaded",
    r"(which|that) likes? noise": "benefits from noise",
    r"machines of their own": "on its own machine",
    r"chance that epsilon fails": "how much a probability may exceed the factor",
    r"\bone row more or less\b": "enough to hide any single row",
    r"\bdear(er|est)\b": "more expensive",
    r"\bno word\b": "without a warning",
    r"\bkinds of (text|values)\b": "column types",
    r"\bone door\b|\ba door\b|\bthe door\b": "a package, a function",
    r"(certificate|report|picture|Warning`*) says so\b": "states it",
}
IN_PAGES = {  # phrases that code may have, where they are names or plain English
    r"\bwhoever\b": "anyone who",
    r"\bbeyond (the|their) bounds\b": "outside the bounds",
    r"\blooks at (the|all) (data|rows|pairs|columns|values)\b": "reads",
    r"\btheirs\b": "name the thing",
    r"\bnothing is told\b|\bis told:": "reports",
}
TEST_NAMES = {
    r"_floor(?![a-z])": "baseline",
    r"_(told|tell|tells)(_\w+)?_apart": "distinguish",
    r"_out_of_(the_)?noise": "exceed",
    r"_came_in\b": "original",
    r"_first_look\b": "types",
    r"_in_earnest|_by_heart": "see PHRASES",
}

ALLOWED = {  # (file, text that the line has): why
    ("docs/api_changes_0.1.md", "| `"): "a table of names before and after",
    ("docs/api_changes_0.1.md", "| column `told apart`"): "the same table",
    ("docs/api_changes_0.1.md", '`schema="infer"` is gone'): "tells what replaces it",
    ("docs/building_blocks.md", "norm_bound"): (
        "feature maps and `descend_privately` have a bound on the norm of a row"
    ),
    ("skdpgen/synthesizers/gaussian/_copula.py", "histograms again, more of"): (
        "the name of a release, which stored certificates have"
    ),
    ("skdpgen/synthesizers/opening/_first_look.py", "kinds of values of the"): (
        "the name of a release"
    ),
    ("docs/privacy_model.md", "`kinds of values of the target`"): "that release",
}


def relative(path):
    return path.relative_to(ROOT).as_posix()


def is_allowed(path, line):
    return any(path == name and text in line for name, text in ALLOWED)


def old_words(path, rules, text=None):
    """Return each line that has an old word, with what to write instead."""
    name = relative(path)
    text = path.read_text("utf-8") if text is None else text
    text = re.sub(r'"\s*\n\s*f?"', "\n", text)  # one text in two lines of code
    flat = re.sub(r"[ \t]*\n[ \t]*(?:#|>|///)?[ \t]*", "\n", text)
    found = []
    for pattern, instead in rules.items():
        spaced = pattern.replace(" ", r"\s")  # a phrase may go over two lines
        for match in re.finditer(spaced, flat, re.IGNORECASE | re.MULTILINE):
            number = flat.count("\n", 0, match.start())
            line = flat.splitlines()[number]
            if not is_allowed(name, line):
                found.append(f"{name}:{number + 1}: {match[0]!r}: write {instead}")
    return found


@pytest.mark.parametrize(
    ("paths", "rules"),
    [
        ([*PAGES, *EXAMPLES], NAMES | PARAMETERS | PHRASES | IN_PAGES),
        (SOURCES, NAMES | PHRASES),
    ],
    ids=["pages and examples", "the package"],
)
def test_old_names_and_phrases_are_gone(paths, rules):
    found = [line for path in paths for line in old_words(path, rules)]
    assert not found, "\n".join(found)


def test_names_of_tests_have_the_words_of_today():
    found = []
    for path in TESTS:
        names = re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
        found += old_words(path, TEST_NAMES, "\n".join(names))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("name", "text"), sorted(ALLOWED))
def test_an_exception_is_still_needed(name, text):
    assert text in (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        'DPKernelSynthesizer(release="per_step")',
        "what stands out of\nthe noise",
        "    # Whoever reads it",
        "methods are told\n    # apart",
        "so many of its rows",
    ],
)
def test_a_word_is_seen_where_it_is(text):
    rules = NAMES | PHRASES
    assert len(old_words(ROOT / "README.md", rules, text)) == 1
