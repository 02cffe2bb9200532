"""The report in a browser: no sideways scrolling, light and dark; and the figures."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import maxmargin
from maxmargin.reports.drawing import heat, line_chart, short

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
MEASURE = (
    "<script>document.title = [document.documentElement.scrollWidth, innerWidth, "
    "getComputedStyle(document.body).backgroundColor].join('|')</script></body>"
)


@pytest.fixture(scope="module")
def model():
    words = ["a", "rather-long-feature-name-that-would-not-fit-a-phone", "b", "c"]
    X = [[{"w": w, "n": str(k)} for k, w in enumerate(words)] for _ in range(4)]
    y = [["B-SOMETHING", "I-SOMETHING", "O", "B-OTHER"]] * 4
    return maxmargin.ChainSVM(C=0.2).fit(X, y), X, y


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_page_fits_the_screen(model, tmp_path, width, dark):
    fitted, X, y = model
    page = tmp_path / "page.html"
    fitted.report(page, X, y)
    text = page.read_text(encoding="utf8")
    text = text.replace("<details", "<details open").replace(" open open", " open")
    # Headless windows are never narrower than 500 pixels: a frame is.
    page.write_text(text.replace("</body>", MEASURE), encoding="utf8")
    outer = tmp_path / "frame.html"
    outer.write_text(
        f'<iframe src="page.html" style="width:{width}px;height:900px;border:0">'
        "</iframe><script>onload = () => { document.title = "
        "frames[0].document.title }</script>"
    )
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
        "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom",
        f"--window-size={width + 100},900", outer.as_uri(),
    ]  # fmt: skip
    out = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = re.search(r"<title>(.*?)</title>", out.stdout)
    if found is None:
        pytest.skip(f"the browser does not start here: {out.stderr[-300:]}")
    needed, has, colour = found.group(1).split("|")
    assert int(has) == width
    assert int(needed) <= int(has)
    light = np.mean([int(v) for v in re.findall(r"\d+", colour)[:3]])
    assert (light < 80) == dark


def test_a_model_without_data_has_a_page(model, tmp_path):
    fitted, _, _ = model
    fitted.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "Confusion" not in text
    assert "Transitions" in text


def test_a_kernel_machine_has_a_page(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where((X**2).sum(axis=1) > 1, "out", "in")
    machine = maxmargin.KernelSVM(C=1.0).fit(X, y)
    machine.report(tmp_path / "page.html", X, y)
    text = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "an expansion over" in text
    assert "Confusion" in text


def test_charts_leave_out_what_is_not_finite():
    assert line_chart([("a", [1.0], [np.inf])], "x", "y") == ""
    drawn = line_chart([("a", [0, 1, 2], [np.inf, 1.0, 0.1])], "x", "y", log=True)
    assert drawn.count(",") >= 2
    assert "inf" not in drawn
    assert 'class="neg' in heat([[-1.0]], ["<"], [">"])
    assert "<<" not in heat([[-1.0]], ["<"], [">"])
    assert [short(v) for v in (0.0, 12345.0, 999.0)] == ["0", "12.3k", "999"]


@pytest.mark.parametrize(
    "high", [2.0, 0.0022, 1e-11, 1.0004, 1.1, 83.8, 56000.0, 3e7, 1e300]
)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.02, 1e-3, 1e-7, 1e-13, 1e-15, 0.0])
@pytest.mark.parametrize("log", [False, True])
def test_numbers_of_an_axis_differ_and_are_short(high, share, log):
    values = [high * (1.0 - share), high] if share < 1.0 else [0.01 * high, high]
    drawn = line_chart([("a", [0.0, 3.0], values)], "x", "y", log=log)
    numbers = re.findall(r'text-anchor="end">([^<]*)<', drawn)
    assert numbers and len(set(numbers)) == len(numbers)
    assert max(map(len, numbers)) <= 8 or high > 1e100, numbers


def test_figures(model):
    pytest.importorskip("matplotlib").use("Agg")
    fitted, X, y = model
    plots = maxmargin.plots
    assert len(plots.convergence({"one": fitted.result_}).lines) == 1
    assert plots.convergence(fitted.result_, what="dual").get_yscale() == "linear"
    assert plots.transitions(fitted).images
    assert plots.confusion(y, list(fitted.predict(X))).images
    assert "error 20.0 %" in plots.reliability([0.8] * 5, [1, 1, 1, 0, 0]).get_title()
    assert plots.path([0.1, 1.0], [0.5, 0.7]).get_xscale() == "log"
