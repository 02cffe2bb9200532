"""Word pieces and legal labels; frozen features and a certified last layer."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from maxmargin.decode import Chain, best_labels  # noqa: E402
from maxmargin.torch import (  # noqa: E402
    LOSSES,
    StructuredHinge,
    TokenClassificationHead,
    decode_logits,
    first_pieces,
    frozen_features,
    retrain_last_layer,
)

NAMES = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def illegal(row):
    before = "O"
    for label in row:
        if label[0] == "I" and before[1:] != label[1:]:
            return True
        before = label
    return False


def pieces(rng, words):
    """Random pieces of words between two special tokens."""
    row = [None]
    for w in range(words):
        row += [w] * int(rng.integers(1, 4))
    return [*row, None]


def encoded(rng, rows):
    """word_ids and labels with -100, padded as a tokenizer does."""
    ids = [pieces(rng, int(rng.integers(1, 6))) for _ in range(rows)]
    width = max(map(len, ids))
    ids = [row + [None] * (width - len(row)) for row in ids]
    labels = torch.full((rows, width), -100)
    for b, places in enumerate(first_pieces(ids)):
        for t in places:
            labels[b, t] = int(rng.choice([0, 1, 3]))
    return ids, labels


@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0])
def test_logits_decode_to_legal_labels_of_words(scale):
    rng = np.random.default_rng(0)
    ids, _ = encoded(rng, 20)
    logits = scale * torch.randn(20, len(ids[0]), 5)
    rows = decode_logits(logits, dict(enumerate(NAMES)), ids)
    for b, row in enumerate(rows):
        places = first_pieces(ids)[b]
        assert len(row) == len(places)
        assert not illegal(row)
        words = torch.log_softmax(logits[b, places], -1).numpy()
        assert row == best_labels(words, NAMES, "bio")


@pytest.mark.parametrize("kind", LOSSES)
def test_pieces_without_a_label_do_not_count(kind):
    rng = np.random.default_rng(1)
    ids, labels = encoded(rng, 4)
    head = TokenClassificationHead(NAMES, loss=kind)
    logits = torch.randn(4, labels.shape[1], 5, requires_grad=True)
    out = head(logits, labels)
    out.loss.backward()
    assert not logits.grad[labels == -100].any()
    if kind == "perturbed":
        head.chain.reset()
    assert head(logits, labels, ids).loss.item() == out.loss.item()
    other = logits.detach().clone()
    other[labels == -100] = 50.0
    if kind == "perturbed":
        head.chain.reset()
    assert head(other, labels).loss.item() == out.loss.item()


def test_the_head_learns():
    torch.manual_seed(0)
    rng = np.random.default_rng(2)
    ids, labels = encoded(rng, 8)
    hidden = torch.randn(8, labels.shape[1], 32)
    head = TokenClassificationHead(NAMES, 32, dropout=0.0)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        loss, logits = head(hidden, labels)
        loss.backward()
        optimizer.step()
    assert logits.shape == (8, labels.shape[1], 5)
    rows = head.decode(hidden, ids)
    said = [[NAMES[k] for k in row[row != -100]] for row in labels]
    assert rows == said
    assert head(hidden).loss is None


def test_logits_of_the_head_are_decoded_with_its_transitions():
    head = TokenClassificationHead(NAMES, hidden_size=4).eval()
    with torch.no_grad():
        head.chain.transitions.normal_(std=3.0)
    hidden, ids = torch.randn(3, 5, 4), [[None, 0, 0, 1, 2]] * 3
    logits = head(hidden).logits
    assert head.decode_logits(logits, ids) == head.decode(hidden, ids)
    assert head.decode_logits(logits, ids) != decode_logits(logits, NAMES, ids)


def test_mistakes_name_the_row():
    head = TokenClassificationHead(NAMES)
    logits = torch.zeros(2, 3, 5)
    with pytest.raises(ValueError, match="row 1 is empty"):
        head(logits, torch.tensor([[0, -100, 0], [-100, -100, -100]]))
    with pytest.raises(ValueError, match="labels have shape"):
        head(logits, torch.zeros(2, 4, dtype=torch.long))
    for wrong in (torch.full((2, 3), 0.7), torch.ones(2, 3, dtype=torch.bool)):
        with pytest.raises(ValueError, match="labels must be whole numbers, not torch"):
            head(logits, wrong)
    with pytest.raises(ValueError, match="mask must hold True and False"):
        decode_logits(logits, NAMES, mask=torch.full((2, 3), 0.5))
    with pytest.raises(ValueError, match="row 1, position 1: label 9"):
        head(logits, torch.tensor([[0, 0, 0], [0, -100, 9]]))
    with pytest.raises(ValueError, match="row 0: no sequence may begin with 'I-X'"):
        head(logits, torch.tensor([[-100, 2, 0], [0, 0, 0]]))
    with pytest.raises(ValueError, match="row 1: word_ids has 4 pieces"):
        decode_logits(logits, NAMES, [[0, 1, 2], [0, 1, 2, 3]])
    with pytest.raises(ValueError, match="word_ids of 1 rows for 2"):
        decode_logits(logits, NAMES, [[0, 1, 2]])


@pytest.mark.parametrize(
    "word_ids, said",
    [
        ([None, 0, 1], "word_ids must be a list with the word numbers of each row"),
        ({"input_ids": [[1, 2, 3]]}, "word_ids must be a list with the word numbers"),
        (torch.zeros(2, 3), "row 0, piece 0: word_ids holds 0.0, which is neither"),
        ([[None, 0, 1], [0, 1, "2"]], "row 1, piece 2: word_ids holds '2', which is"),
        ([[None, 0, 1], [True, 1, 2]], "row 1, piece 0: word_ids holds True, which is"),
    ],
)
def test_word_numbers_of_another_form(word_ids, said):
    with pytest.raises(ValueError, match=said):
        decode_logits(torch.zeros(2, 3, 5), NAMES, word_ids)


def test_word_numbers_as_a_tensor():
    ids = [[None, 0, 0, 1, None], [None, 0, None, None, None]]
    tensor = torch.tensor([[-1 if w is None else w for w in row] for row in ids])
    assert first_pieces(tensor) == first_pieces(ids) == [[1, 3], [1]]
    assert first_pieces(tensor.numpy()) == first_pieces(list(tensor)) == [[1, 3], [1]]
    logits = torch.randn(2, 5, 5)
    assert decode_logits(logits, NAMES, tensor) == decode_logits(logits, NAMES, ids)


def test_names_of_all_columns():
    logits = torch.randn(1, 3, 5)
    names = dict(enumerate(NAMES))
    text = {str(k): name for k, name in names.items()}
    assert decode_logits(logits, text) == decode_logits(logits, names)
    with pytest.raises(ValueError, match="one name is needed for each column"):
        decode_logits(logits, {k + 1: name for k, name in names.items()})


def test_logits_of_no_rows():
    assert decode_logits(torch.zeros(0, 3, 5), NAMES) == []
    assert decode_logits(torch.zeros(0, 3, 5), NAMES, []) == []
    head = TokenClassificationHead(NAMES)
    assert head.decode(torch.zeros(0, 3, 5)) == []
    with pytest.raises(ValueError, match="no rows"):
        head(torch.zeros(0, 3, 5), torch.zeros(0, 3, dtype=torch.long))


def test_the_last_layer_is_the_chain_svm():
    rng = np.random.default_rng(3)
    labels = ["O", "B-X", "I-X"]
    X = [rng.normal(size=(int(rng.integers(1, 7)), 4)) for _ in range(30)]
    y = [best_labels(x[:, :3], labels, "bio") for x in X]
    last = retrain_last_layer(X, y, labels, C=1.0, scheme="bio", tol=1e-4)
    assert 0 <= last.gap <= 1e-4
    linear = torch.nn.Linear(4, 3)
    chain = StructuredHinge(Chain(labels=tuple(labels), scheme="bio"))
    last.load_into(linear, chain)
    new = [rng.normal(size=(5, 4)) for _ in range(20)]
    scores = linear(torch.tensor(np.stack(new), dtype=torch.float32))
    rows = [[labels[k] for k in row] for row in chain.decode(scores)]
    assert rows == list(last.model.predict(new))
    # The sum of hinges and the norm are the objective that was certified.
    xi = 0.0
    for x, row in zip(X, y, strict=True):
        target = torch.tensor([[labels.index(k) for k in row]])
        table = linear(torch.tensor(x[None], dtype=torch.float32))
        xi += chain(table, target).item()
    norm = 0.5 * float(np.sum(last.model.coef_**2))
    assert norm + xi == pytest.approx(last.model.result_.primal, rel=1e-4)


def test_features_of_batches():
    X = frozen_features(
        lambda n: (torch.ones(2, 3, n), torch.tensor([[True, False, True]] * 2)), [1, 2]
    )
    assert [x.shape for x in X] == [(2, 1), (2, 1), (2, 2), (2, 2)]


def test_what_a_last_layer_cannot_hold():
    X, y = [np.eye(2)], [["a", "b"]]
    with pytest.raises(ValueError, match="'b', which is not among"):
        retrain_last_layer(X, y, ["a"])
    with pytest.raises(ValueError, match="order=1"):
        retrain_last_layer(X, y, ["a", "b"], order=2)
    last = retrain_last_layer(X, y, ["a", "b"])
    with pytest.raises(ValueError, match="a weight of shape"):
        last.load_into(torch.nn.Linear(3, 2), StructuredHinge(Chain(), n_labels=2))
    with pytest.raises(ValueError, match="does not learn 'transitions'"):
        last.load_into(
            torch.nn.Linear(2, 2), StructuredHinge(Chain(), n_labels=2, learn=False)
        )


def test_logits_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"shape \(3, 5\): a tensor"):
        decode_logits(torch.zeros(3, 5), NAMES)
    with pytest.raises(ValueError, match=r"shape \(1, 3, 5\): a tensor"):
        decode_logits(np.zeros((1, 3, 5)), NAMES)
    with pytest.raises(ValueError, match="logits is a dict: a tensor"):
        decode_logits({"logits": torch.zeros(1, 3, 5)}, NAMES)
    wrong = torch.zeros(2, 3, 5)
    wrong[1, 2, 0] = torch.inf
    with pytest.raises(ValueError, match=r"row 1: emissions\[2, 0\] is inf"):
        decode_logits(wrong, NAMES)


@pytest.mark.parametrize(
    "lengths, message",
    [([4, 1], "row 0: length 4 is beyond"), ([3, 0], "row 1 is empty"), ([3], "shape")],
)
def test_lengths_of_frozen_features(lengths, message):
    with pytest.raises(ValueError, match=message):
        frozen_features(lambda x: (x, torch.tensor(lengths)), [torch.zeros(2, 3, 4)])
    with pytest.raises(ValueError, match=r"states of shape \(2, 3\)"):
        frozen_features(lambda x: (x, torch.tensor([3, 3])), [torch.zeros(2, 3)])
