import json

import pytest
from sklearn.exceptions import NotFittedError

from skdpgen import DPIndependentSynthesizer
from skdpgen.datasets import load_example
from skdpgen.report import report_content, with_real, write_page


@pytest.fixture(scope="module")
def fitted():
    X, y = load_example(2000)
    return DPIndependentSynthesizer(1.0).fit(X[["age", "owns_home"]], y)


def test_an_estimator_writes_its_page_and_the_same_as_data(fitted, tmp_path):
    fitted.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    data = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert "DPIndependentSynthesizer" in page
    assert data["guarantee"]["certificate"] == str(fitted.privacy_)
    assert [column["name"] for column in data["columns"]] == ["age", "owns_home"]
    assert data["real"] is None
    assert "figures" not in data


def test_a_path_as_text_will_do(fitted, tmp_path):
    fitted.report(f"{tmp_path}/page.html")
    assert (tmp_path / "page.json").exists()


def test_only_html_is_written(fitted, tmp_path):
    with pytest.raises(ValueError, match=r"must be an \.html file. Got '.*page.pdf'"):
        fitted.report(tmp_path / "page.pdf")
    assert not list(tmp_path.iterdir())


def test_without_a_fit_there_is_nothing_to_report(tmp_path):
    with pytest.raises(NotFittedError):
        DPIndependentSynthesizer().report(tmp_path / "page.html")


def test_pictures_of_real_rows_are_not_in_the_data(fitted, tmp_path):
    picture = {"title": "t", "picture": "data:image/png;base64,AAAA"}
    real = {"alarm": "NOT PRIVATE: real", "left_out": [], "distances": [],
            "scores": None, "figures": [picture]}  # fmt: skip
    content = with_real(report_content(fitted), real)
    write_page(content, tmp_path / "page.html")
    assert "base64,AAAA" not in (tmp_path / "page.json").read_text("utf-8")
    assert "base64,AAAA" in (tmp_path / "page.html").read_text("utf-8")
    assert content["real"]["figures"] == [picture]  # not changed
