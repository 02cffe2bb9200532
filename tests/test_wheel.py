"""A wheel with machine code, in a new environment: nothing is compiled there.

Built for three estimators, which takes less than a minute the first time; the folder of
the test cache keeps what was compiled.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from maxmargin.core.compiled import LEVELS, NATIVE, Pack, levels_for

ROOT = Path(__file__).parents[1]
ESTIMATORS = ("MulticlassSVM", "ChainSVM", "RankingSVM")
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not levels_for(platform.machine()), reason="no level for it"),
]
RUN = """
import json, sys
import numpy as np
import maxmargin as mm
from maxmargin import runtime

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = np.arange(30) % 3
pairs = [X[k : k + 3] for k in range(0, 30, 3)]
weights = []
for model, inputs, outputs in (
    (mm.MulticlassSVM(), X, y),
    (mm.ChainSVM(), pairs, [[0, 1, 2]] * 10),
    (mm.RankingSVM(k=3), pairs, [[1, 0, 0]] * 10),
):
    model.fit(inputs, outputs).predict(inputs)
    weights.append(model.result_.w.tobytes().hex())
print(json.dumps({"weights": weights, "file": mm.__file__} | runtime.describe()))
"""
ONE_LOOP = """
import json
import numpy as np
from maxmargin import runtime
from maxmargin.core.data.arrays import Rows

Rows.from_dense(np.eye(2)).dot(np.ones(2))
print(json.dumps(runtime.describe()))
"""


def level():
    """The level that is built: the best for all loops that this processor runs."""
    from maxmargin.core.compiled.packs import host_features

    return next(
        name
        for name in levels_for(platform.machine())
        if set(LEVELS[name].features) <= host_features() and not LEVELS[name].only
    )


def settings(**more):
    """The environment without what concerns the sources; None takes a variable away."""
    gone = ("PYTHONPATH", "NUMBA_CACHE_DIR", "MAXMARGIN_CACHE_DIR", "NUMBA_BOUNDSCHECK")
    here = {k: v for k, v in os.environ.items() if k not in gone}
    return {k: v for k, v in (here | more).items() if v is not None}


@pytest.fixture(scope="module")
def cache():
    """What was compiled for wheels of these sources before."""
    base = Path(os.environ["MAXMARGIN_CACHE_DIR"] + "-wheel")
    base.mkdir(parents=True, exist_ok=True)
    return str(base)


@pytest.fixture(scope="module")
def wheel(cache, tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    asked = {
        "MAXMARGIN_PRECOMPILE": ",".join(ESTIMATORS),
        "MAXMARGIN_PRECOMPILE_CACHE": cache,
        "MAXMARGIN_PRECOMPILE_LEVELS": level(),
    }
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "-q"]
    command += ["--no-build-isolation", "-w", str(folder)]
    ended = subprocess.run(
        command, env=settings(**asked), capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Python of a new environment with the wheel; its dependencies are those here."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, env=settings())
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    said = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True)
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    path = Path(said.stdout.strip()) / "dependencies.pth"
    path.write_text("\n".join(sorted(dependencies)))
    return python


def told(python, code, folder, **more):
    """What a script prints in the new environment, with an empty home."""
    env = settings(**{"HOME": str(folder), "XDG_CACHE_HOME": None} | more)
    command = [python, "-W", "ignore", "-c", code]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_the_wheel_is_for_this_python_and_small(wheel):
    version = "".join(map(str, sys.version_info[:2]))
    assert f"-cp{version}-cp{version}-" in wheel.name
    assert wheel.stat().st_size < 15e6
    names = zipfile.ZipFile(wheel).namelist()
    assert f"maxmargin/core/compiled/packs/{level()}.code" in names
    assert "maxmargin/core/compiled/signatures.json" in names
    assert not any(str(ROOT).encode() in name.encode() for name in names)


def test_a_wheel_without_being_asked_for_is_pure(tmp_path):
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "-q"]
    command += ["--no-build-isolation", "-w", str(tmp_path)]
    env = settings(MAXMARGIN_PRECOMPILE=None)
    subprocess.run(command, env=env, check=True)
    (path,) = tmp_path.glob("*.whl")
    assert path.name.endswith("-py3-none-any.whl")
    assert not [n for n in zipfile.ZipFile(path).namelist() if n.endswith(".code")]


def test_nothing_is_compiled_and_the_bits_are_those_of_the_compiler(
    python, cache, tmp_path
):
    shipped = told(python, RUN, tmp_path)
    assert str(ROOT) not in shipped["file"]
    assert shipped["loops"]["compiled"] == shipped["loops"]["cached"] == 0
    assert shipped["loops"]["shipped"] > 10 and shipped["seconds_compiling"] == 0.0
    compiled = told(
        python, RUN, tmp_path, MAXMARGIN_MACHINE_CODE="off", MAXMARGIN_CACHE_DIR=cache,
        NUMBA_CPU_NAME=LEVELS[level()].cpu, NUMBA_CPU_FEATURES="",
    )  # fmt: skip
    assert compiled["loops"]["shipped"] == 0
    assert compiled["weights"] == shipped["weights"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"numba": "0.1"}, "made for numba 0.1"),
        ({"level": NATIVE, "cpu": "z80"}, "made for the processor z80"),
    ],
)
def test_another_numba_or_processor_compiles(python, tmp_path, change, why):
    """A copy of the installed package, whose pack says that it was made for these."""
    code = "import maxmargin; print(maxmargin.__path__[0])"
    said = subprocess.run(
        [python, "-c", code], stdout=subprocess.PIPE, text=True, cwd=tmp_path,
        env=settings(),
    )  # fmt: skip
    source = Path(said.stdout.strip())
    copy = tmp_path / "copy"
    shutil.copytree(source, copy / "maxmargin")
    (path,) = (copy / "maxmargin" / "core" / "compiled" / "packs").glob("*.code")
    magic, head, body = path.read_bytes().split(b"\n", 2)
    changed = json.loads(head)
    changed["target"] |= change
    path.write_bytes(b"\n".join([magic, json.dumps(changed).encode(), body]))
    assert Pack(path).entries
    found = told(python, ONE_LOOP, tmp_path, PYTHONPATH=str(copy))
    assert found["loops"] == {"shipped": 0, "cached": 0, "compiled": 1}
    (pack,) = found["packs"]
    assert not pack["used"] and why in pack["why_not"]
    assert told(python, ONE_LOOP, tmp_path)["loops"]["shipped"] == 1


def test_a_read_only_package_and_no_home_are_enough(python, tmp_path):
    found = told(python, RUN, tmp_path, HOME="/dev/null/none")
    assert found["loops"]["compiled"] == 0 and found["loops"]["shipped"] > 10
