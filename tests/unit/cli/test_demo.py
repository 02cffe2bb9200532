"""The demo is a real run: structure must beat independent digits."""

import numpy as np

from maxmargin import ChainSVM, MulticlassSVM
from maxmargin.cli.main import main
from maxmargin.datasets import CODES, written_postcodes


def test_demo_prints_a_certificate_and_saves_a_picture(tmp_path, capsys):
    path = tmp_path / "demo.png"
    assert main(["demo", "--out", str(path)]) == 0
    said = capsys.readouterr().out
    assert "certificate: converged" in said
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_structure_beats_independent_digits():
    train, test = written_postcodes(200, 100, seed=1)
    truth = np.array(test.digits)
    flat = MulticlassSVM(C=0.1)
    flat.fit(np.vstack(train.images), np.concatenate(train.digits))
    alone = flat.predict(np.vstack(test.images)).reshape(truth.shape)
    chain = ChainSVM(C=0.1, order=2).fit(train.images, train.digits)
    together = np.array([list(row) for row in chain.predict(test.images)])
    assert (together != truth).mean() < 0.8 * (alone != truth).mean()


def test_images_of_training_and_test_are_disjoint_and_codes_real():
    train, test = written_postcodes(50, 50, noise=0.0)
    seen = {tuple(digit) for image in train.images for digit in image}
    assert not any(tuple(digit) in seen for image in test.images for digit in image)
    assert all("".join(map(str, row)) in CODES for row in test.digits)


def test_no_command_is_an_error(capsys):
    assert main([]) == 2
    assert "demo" in capsys.readouterr().out
