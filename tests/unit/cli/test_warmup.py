"""`maxmargin warmup`, `python -m maxmargin.runtime` and `maxmargin describe --runtime`."""

import json

import pytest

from maxmargin import runtime
from maxmargin.cli.main import main
from maxmargin.core.compiled import Listing, Pack, Stores, packs

NEEDED = len(Listing.read().estimators["MulticlassSVM"])


def test_loops_are_made_ready(capsys):
    assert main(["warmup", "MulticlassSVM"]) == 0
    said = capsys.readouterr().out
    assert f"{NEEDED} loops are ready after" in said and "cache: " in said
    told = runtime.describe()
    assert told["cache"]["files"] >= NEEDED and told["cache"]["problem"] is None


def test_an_estimator_that_is_not_there(capsys):
    assert main(["warmup", "ChainSMV"]) == 2
    assert (
        "ChainSMV is not an estimator; there are AlignmentSVM"
        in capsys.readouterr().err
    )


def test_a_cache_that_keeps_nothing_is_a_failure(capsys, monkeypatch, tmp_path):
    tmp_path.chmod(0o777)
    unsafe = Stores(user=packs.UserCache([tmp_path]))
    if unsafe.user.folder is not None:
        pytest.skip("no permissions here")
    monkeypatch.setattr(packs, "stores", lambda: unsafe)
    monkeypatch.setattr(
        "maxmargin.core.compiled.machine_code.USES.compiled", ["some.loop"]
    )
    assert main(["warmup", "MulticlassSVM"]) == 1
    assert "nothing is kept: " in capsys.readouterr().err


def test_machine_code_for_all_users(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "PACKS", tmp_path)
    assert main(["warmup", "--share", "MulticlassSVM"]) == 0
    (path,) = tmp_path.glob("*.code")
    pack = Pack(path)
    assert path.name == "native.code" and len(pack.entries) == NEEDED
    ((_, misfit),) = Stores.found(tmp_path).packs
    assert misfit is None


def test_a_package_that_cannot_be_written_is_said_at_once(tmp_path, monkeypatch, capfd):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setattr(packs, "PACKS", blocked / "packs")
    assert main(["warmup", "--share", "MulticlassSVM"]) == 1
    said = capfd.readouterr().err
    assert said.startswith(f"maxmargin: nothing can be written to {blocked}")
    assert "compiled" not in said and "Traceback" not in said


def test_describe_tells_the_runtime(capsys):
    assert main(["describe", "--runtime"]) == 0
    assert capsys.readouterr().out == runtime.text() + "\n"
    assert main(["describe", "--runtime", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == runtime.describe()
    for wrong in (["describe"], ["describe", "model.mm", "--runtime"]):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert ended.value.code == 2 and "--runtime" in capsys.readouterr().err


def test_the_runtime_is_told_in_words_and_as_json(capsys, monkeypatch, tmp_path):
    assert runtime.main([]) == 0
    said = capsys.readouterr().out
    assert "Numba" in said and "compiled loops: " in said
    assert runtime.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["versions"]["maxmargin"]
    assert runtime.main(["--nonsense"]) == 2
    target = packs.Target(**vars(packs.Target.here()) | {"numba": "0.1"})
    Pack.write(tmp_path / "x86-64-v3.code", target, [])
    found = Stores.found(tmp_path)
    monkeypatch.setattr(runtime, "stores", lambda: found)
    assert "not used: made for numba 0.1, this is" in runtime.text()
