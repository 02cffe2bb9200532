"""Pages in headless Chromium: reports of every task, `serve`, and the site.

Light and dark, desktop and phone: no errors on the console, nothing wider than the
window, all images there. Set MAXMARGIN_SHOTS to a folder to keep the screenshots.
"""

import os
import re
import subprocess
import sys
from html import unescape
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, program
from small.models import MODELS

ROOT = Path(__file__).parents[1]
SHOTS = os.environ.get("MAXMARGIN_SHOTS")
SCREENS = [(1280, False), (1280, True), (390, False), (390, True)]
pytestmark = [
    pytest.mark.skipif(program() is None, reason="no Chromium here"),
    pytest.mark.timeout(1200),
]


@pytest.fixture(scope="module")
def browser():
    try:
        opened = Browser()
        opened.send("Browser.getVersion")
    except (AssertionError, OSError) as error:
        pytest.skip(f"the browser does not start here: {error}")
    with opened:
        yield opened


def looked_at(browser, address, name, ready="true", screens=SCREENS):
    """Open a page on every screen and check it; returns its text."""
    for width, dark in screens:
        page = browser.open(address, width, 900, dark)
        page.wait(ready)
        page.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        if SHOTS:
            shade = "dark" if dark else "light"
            page.picture(Path(SHOTS) / f"{name}-{width}-{shade}.png")
        where = f"{name}, {width} pixels, dark {dark}"
        assert page.errors == [], where
        assert page.overflow() <= 0, where
        assert page.missing_images() == [], where
        paper = page.value("getComputedStyle(document.body).backgroundColor")
        light = np.mean([float(v) for v in re.findall(r"[\d.]+", paper)[:3]])
        assert (light < 80) == dark, where
    return page.value("document.body.innerText")


# Scores of these are sums of kernel values, of which no part belongs to one output.
NOT_DRAWN = {"chain_kernel", "network_kernel"}


def reported(name):
    """A model with inputs and outputs to score it on."""
    model, X = MODELS[name]()
    if name == "ranking":
        return model, X, [(x[:, 0] > 0.5).astype(int) for x in X]
    return model, X, model.predict(X)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_reports(browser, tmp_path, name):
    model, X, y = reported(name)
    path = tmp_path / "report.html"
    model.report(path, X, y)
    text = looked_at(browser, path.as_uri(), f"report-{name}")
    assert "Model card" in text
    assert ("Hardest examples" in text) == (name not in NOT_DRAWN)


def test_hardest_examples_are_drawn(tmp_path):
    drawn = {"chain": "tagging", "grammar": 'class="tree"', "dependency": 'class="arcs"',
             "segment": "tagging", "alignment": "<svg", "homology": "<svg",
             "network": 'class="graph"', "motif": 'class="site"', "ranking": "ranked",
             "coreference": "tagging"}  # fmt: skip
    for name, mark in drawn.items():
        model, X, y = reported(name)
        model.report(tmp_path / "page.html", X, y)
        text = (tmp_path / "page.html").read_text(encoding="utf8")
        section = text[text.index('id="hardest-examples"') :]
        assert mark in section[: section.index("</section>")], name


def test_the_page_of_serve(browser, tmp_path):
    pytest.importorskip("starlette", reason="starlette is not installed")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    path = tmp_path / "motif.mm"
    MODELS["motif"]()[0].save(path)
    command = [sys.executable, "-m", "maxmargin", "serve", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+/", server.stdout.readline()).group()
            answered = "!document.getElementById('answer').hidden"
            text = looked_at(browser, address, "serve", answered)
            assert "Runners-up" in text and "Why" in text
            page = browser.open(address)
            page.wait(answered)
            page.value("document.getElementById('text').value = '123'")
            page.value("document.querySelector('button').click()")
            page.wait("!document.getElementById('error').hidden")
            told = page.value("document.getElementById('error').innerText")
            assert "not a sequence of bases" in told
            page.value("document.getElementById('text').value = 'ccTATAgc'")
            page.value(
                "document.getElementById('text').dispatchEvent(new KeyboardEvent("
                "'keydown', {key: 'Enter', ctrlKey: true, bubbles: true}))"
            )
            page.wait(answered)
            assert page.value("document.querySelector('mark').innerText") == "TATA"
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for package in ("mkdocs", "material", "mkdocstrings"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", folder]
    # without -q, which hides the warnings that --strict counts
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=quiet
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return folder


MAIN = (
    "index", "start", "which_estimator", "gallery/index", "gallery/trees",
    "tasks/sequences", "api/estimators", "api/estimators/ChainSVM", "api/formats",
    "cli", "concepts", "faq", "glossary", "pitfalls",
    "how_it_works", "whats_new", "statements", "benchmarks/trainers",
)  # fmt: skip


@pytest.mark.parametrize("page", MAIN)
def test_the_site(browser, site, page):
    """Opened as files, without any server: nothing is fetched from elsewhere."""
    looked_at(browser, (site / f"{page}.html").as_uri(), page.replace("/", "-"))


def test_every_other_page_of_the_site(browser, site):
    pages = {str(p.relative_to(site).with_suffix("")) for p in site.rglob("*.html")}
    others = sorted(p for p in pages - {*MAIN, "404"} if not re.match("api/.*/", p))
    assert len(others) > 60
    for page in others:
        where, name = (site / f"{page}.html").as_uri(), page.replace("/", "-")
        looked_at(browser, where, name, screens=[(1280, False), (390, True)])


def test_formulas_are_set(browser, site):
    for name in ("ChainSVM", "MulticlassSVM", "GrammarSVM", "RankingSVM"):
        page = browser.open((site / "api" / "estimators" / f"{name}.html").as_uri())
        assert page.value("document.querySelectorAll('.katex').length") >= 1, name
        assert page.value("document.querySelectorAll('.katex-error').length") == 0
        text = page.value(
            "document.querySelector('main').innerText.split('Source code')[0]"
        )
        assert ".. math::" not in text and r"\langle" not in text.replace("\n", "")


def test_every_public_class_has_a_page(site):
    import maxmargin

    pages = {p.stem for p in (site / "api").glob("*/*.html")}
    classes = {n for n in dir(maxmargin) if isinstance(getattr(maxmargin, n), type)}
    assert classes <= pages
    chain = (site / "api" / "estimators" / "ChainSVM.html").read_text(encoding="utf8")
    plain = unescape(re.sub(r"<.*?>", "", chain))
    assert "from maxmargin import ChainSVM" in plain
    assert "src/maxmargin/estimators/sequences/chain.py" in plain
    assert "def predict_nbest(" in plain, "the source of its methods"
    segment = (site / "api" / "estimators" / "SegmentSVM.html").read_text("utf8")
    assert '<span class="new">' in segment and '<span class="new">' not in chain


def test_the_page_of_the_command_line_has_every_flag(site):
    from argparse import _SubParsersAction

    from maxmargin.cli.parser import build

    text = unescape((site / "cli.html").read_text(encoding="utf8"))
    commands = next(a for a in build()._actions if isinstance(a, _SubParsersAction))
    for name, command in commands.choices.items():
        assert f'<h2 id="{name}">' in text
        for action in command._actions:
            for flag in action.option_strings:
                assert flag in ("-h", "--help") or f"<code>{flag}</code>" in text, flag


def test_api_pages_show_the_defaults_of_the_signature(site):
    import inspect

    import maxmargin

    for name in ("ChainSVM", "MulticlassSVM", "GrammarSVM", "RankingSVM", "MotifSVM"):
        text = (site / "api" / "estimators" / f"{name}.html").read_text("utf8")
        kind = getattr(maxmargin, name)
        start = text.index(f'id="{kind.__module__}.{name}"')
        table = text[start : text.index("</table>", start)]
        rows = dict(
            re.findall(
                r"<tr class=\"doc-section-item\">.*?<code>(\w+)</code>(.*?)</tr>",
                table,
                re.S,
            )
        )
        for parameter in inspect.signature(kind).parameters.values():
            shown = re.findall(r"<code>(.*?)</code>", rows[parameter.name], re.S)[-1]
            plain = unescape(re.sub(r"<.*?>", "", shown))
            assert plain.replace('"', "'") == repr(parameter.default), parameter
        assert "Examples using this" in text, name
