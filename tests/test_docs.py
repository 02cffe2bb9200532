"""The pages: their code runs, in the order it stands; their links and names are right."""

import os
import re
import sys
import types
import warnings
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
DATA = os.environ.get("MAXMARGIN_DATA", "")
with_blocks = [p for p in PAGES if "```python" in p.read_text(encoding="utf8")]


@pytest.mark.parametrize("page", with_blocks, ids=lambda p: p.stem)
def test_code_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    """One namespace per page; what needs data stops the page where there are none."""
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # a real module: its classes pickle
    monkeypatch.setitem(sys.modules, module.__name__, module)
    text = page.read_text(encoding="utf8")
    for package in ("torch", "jax"):
        if f"import {package}\n" in text:
            pytest.importorskip(package, reason=f"{package} is not installed")
    for found in re.finditer(r"```python\n(.*?)```", text, re.S):
        block = found.group(1)
        if "MAXMARGIN_DATA" in block and not Path(DATA or "/nowhere").is_dir():
            continue  # later blocks may not need data
        needs_torch = re.search(r"^from (maxmargin\.)?torch import", block, re.M)
        if needs_torch and not find_spec("torch"):
            continue
        line = text[: found.start()].count("\n") + 1
        code = compile("\n" * line + block, str(page), "exec")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", module="matplotlib")
            warnings.filterwarnings("ignore", ".*tags that no training tree has")
            exec(code, module.__dict__)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_links_lead_somewhere(page):
    prose = re.sub(
        r"^ *```.*?^ *```", "", page.read_text(encoding="utf8"), flags=re.S | re.M
    )
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf8")
    for page in PAGES:
        assert str(page.relative_to(DOCS)) in menu


def test_users_of_clusters_are_told_whom_they_trust():
    """Answers of a cluster are pickles: that must stand where people meet clusters."""
    pages = [DOCS / "security.md", DOCS / "scaling.md"]
    pages.append(ROOT / "src" / "maxmargin" / "engines" / "dask.py")
    for page in pages:
        text = page.read_text(encoding="utf8")
        assert "trust" in text and "pickles" in text, page
    assert (ROOT / "SECURITY.md").is_file()


def test_named_modules_exist():
    """What the API pages list can be imported."""
    import importlib

    pages = sorted((DOCS / "api").glob("*.md"))
    text = "\n".join(page.read_text(encoding="utf8") for page in pages)
    absent = tuple(  # read, not imported
        f"maxmargin.{name}." for name in ("torch", "jax") if not find_spec(name)
    )
    for name in re.findall(r"^::: (\S+)$", text, re.M):
        if name.startswith(absent):
            continue
        try:
            importlib.import_module(name)
        except ImportError:
            room, thing = name.rsplit(".", 1)
            assert hasattr(importlib.import_module(room), thing), name


GALLERY = DOCS / "gallery"
EXAMPLES = re.findall(
    r"^(\w+)", (GALLERY / "order.txt").read_text(encoding="utf8"), re.M
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_pages_of_examples_are_those_of_their_scripts(name):
    """Write them again: python docs/extensions/build_gallery.py NAME."""
    spec = spec_from_file_location("gallery", DOCS / "extensions" / "build_gallery.py")
    gallery = module_from_spec(spec)
    spec.loader.exec_module(gallery)
    title, intro, cells = gallery.parse(GALLERY / f"{name}.py")
    page = (GALLERY / f"{name}.md").read_text(encoding="utf8")
    assert page.startswith(f"# {title}\n\n{intro}\n")
    assert re.findall(r"```python\n(.*?)\n```", page, re.S) == [c.code for c in cells]
    book = (GALLERY / f"{name}.ipynb").read_text(encoding="utf8")
    assert book == gallery.notebook(title, intro, cells)
    assert "../pictures/gallery/" in page, "an example has a picture"
    assert f"({name}.md)" in (GALLERY / "index.md").read_text(encoding="utf8")


def test_every_script_of_the_gallery_is_listed():
    assert {path.stem for path in GALLERY.glob("*.py")} == set(EXAMPLES)
    assert len(EXAMPLES) >= 15


def test_commands_are_accepted():
    """Flags and commands of the bash blocks are those of the command line."""
    parser = pytest.importorskip("maxmargin.cli.parser").build()
    for page in [*PAGES, ROOT / "README.md"]:
        blocks = re.findall(r"```bash\n(.*?)```", page.read_text(encoding="utf8"), re.S)
        for line in "\n".join(blocks).splitlines():
            words = line.split("#")[0].split()
            if words[:1] == ["maxmargin"]:
                assert parser.parse_args(words[1:]).command


def test_results_page_draws_ladders(tmp_path):
    from experiments import newcomer

    record = {
        "name": "taskar2003.figure1b", "title": "Figure", "seed": 0,
        "command": "python -m experiments run taskar2003.figure1b",
        "rows": [{"method": "M3N <linear>", "error": "0.1960", "published": 0.2}],
        "claims": {"links help": True, "all is well": False},
        "errors": {"M3N linear": 0.196, "CRF": 0.195, "SVM cubic": 0.2},
    }  # fmt: skip
    newcomer.write({record["name"]: record}, tmp_path)
    listed = (tmp_path / "statements.md").read_text()
    assert "errs 16 % less than CRFs | **does not hold**: 1 % more than CRF;" in listed
    assert "SVMs with cubic kernels (within a tenth) | holds |" in listed
    text = (tmp_path / "results.md").read_text()
    assert "1 hold, 1 do not" in text
    assert "- yes: links help" in text and "- **no**: all is well" in text
    svg = (tmp_path / "pictures" / "taskar2003.figure1b.svg").read_text()
    assert "M3N &lt;linear&gt;" in svg
    assert svg.count("<circle") == 2
    assert newcomer.number("0.8136 accuracy, 0.3") == 0.8136
    assert newcomer.number("about 0.8") is None


def test_results_page_draws_curves(tmp_path):
    from experiments import newcomer

    rows = [
        {"trained for": loss, "C": C, "test Q": 80.0 + C / 10}
        for loss in ("Q", "Q4")
        for C in (2.0, 20.0)
    ]
    record = {"name": "yu2011.figure4_6", "title": "Figure", "seed": 0, "rows": rows}
    newcomer.write({record["name"]: {**record, "command": "run"}}, tmp_path)
    svg = (tmp_path / "pictures" / "yu2011.figure4_6.svg").read_text()
    assert svg.count("<circle") == 2 + 4  # legend, points
    assert ">trained for Q4</text>" in svg
