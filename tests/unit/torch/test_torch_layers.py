"""Layers as parts of networks: parameters, masks, types, workers, compilation."""

import io
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from maxmargin.decode import (  # noqa: E402
    Alignment,
    Chain,
    Network,
    Segments,
    SpanTree,
)
from maxmargin.decode.machinery import batch  # noqa: E402
from maxmargin.torch import (  # noqa: E402
    LOSSES,
    PerturbedLoss,
    StructuredHinge,
    structured_loss,
)

NAMES = ("O", "B-X", "I-X")


def scores(*shape, seed=0, dtype=torch.float32):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=rng).to(dtype)


def legal(rows):
    for row in rows:
        before = 0
        for k in row.tolist():
            if k == 2 and before == 0:
                return False
            before = k
    return True


def test_the_layer_owns_its_tables():
    layer = StructuredHinge(Chain(labels=NAMES, scheme="bio"))
    shapes = {k: tuple(v.shape) for k, v in layer.state_dict().items()}
    assert shapes == {"transitions": (3, 3), "start": (3,), "end": (3,)}
    assert set(StructuredHinge(Chain(order=2), n_labels=4).state_dict()) == {
        "transitions", "triples", "start", "end",
    }  # fmt: skip
    assert set(StructuredHinge(Alignment()).state_dict()) == {"deletes", "inserts"}
    assert set(StructuredHinge(Segments(), n_labels=2).state_dict()) == {"transitions"}
    assert not StructuredHinge(SpanTree()).state_dict()
    only = StructuredHinge(Chain(), n_labels=2, learn=["transitions"])
    assert set(only.state_dict()) == {"transitions"}
    with pytest.raises(ValueError, match="give n_labels"):
        StructuredHinge(Chain())
    with pytest.raises(ValueError, match="'gaps' is not a table"):
        StructuredHinge(Chain(), n_labels=2, learn=["gaps"])


def test_saving_and_loading():
    layer = StructuredHinge(Chain(), n_labels=3)
    with torch.no_grad():
        layer.transitions += scores(3, 3)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    again = StructuredHinge(Chain(), n_labels=3)
    again.load_state_dict(torch.load(file))
    x = scores(2, 5, 3)
    assert (again.decode(x) == layer.decode(x)).all()


def test_parameters_get_gradients_and_learn():
    torch.manual_seed(0)
    layer = StructuredHinge(Chain(), n_labels=2)
    emissions = torch.zeros(8, 6, 2)
    target = torch.tensor([[0, 1] * 3]).repeat(8, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(50):
        optimizer.zero_grad()
        loss = layer(emissions, target)
        loss.backward()
        optimizer.step()
    assert loss.item() == 0.0
    assert (layer.decode(emissions) == target).all()


def test_tables_from_elsewhere_get_gradients():
    embedding = torch.nn.Parameter(scores(3, 2))
    layer = StructuredHinge(Chain(), n_labels=3, learn=["start", "end"])
    tables = {"emissions": scores(2, 4, 3), "transitions": embedding @ embedding.T}
    layer(tables, torch.zeros(2, 4, dtype=torch.long)).backward()
    assert embedding.grad.abs().sum() > 0


@pytest.mark.parametrize("kind", LOSSES)
def test_masks_lengths_and_packed_scores_agree(kind):
    x, y = scores(3, 5, 4), torch.randint(0, 4, (3, 5))
    lengths = torch.tensor([5, 2, 3])
    mask = torch.arange(5) < lengths[:, None]
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        x, lengths, batch_first=True, enforce_sorted=False
    )
    values = []
    for given, m in ((x, mask), (x, lengths), (packed, None)):
        layer = structured_loss(kind, Chain(), n_labels=4)
        values.append(layer(given, y, m).item())
    assert values[0] == values[1] == values[2]
    layer = structured_loss(kind, Chain(), n_labels=4)
    target = y.clone()
    target[~mask] = -100
    assert layer(x, target, mask).item() == values[0]
    garbage = x.clone()
    garbage[~mask] = torch.nan
    layer = structured_loss(kind, Chain(), n_labels=4)
    assert layer(garbage, target, mask).item() == values[0]
    assert (layer.decode(x, mask)[~mask] == -1).all()


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64]
)
def test_types(dtype):
    x = scores(2, 3, 3, dtype=dtype).requires_grad_()
    layer = StructuredHinge(Chain(), n_labels=3)
    value = layer(x, torch.zeros(2, 3, dtype=torch.long))
    value.backward()
    assert x.grad.dtype == dtype
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    assert value.dtype == wide


def test_scores_on_the_cpu_are_shared():
    x = scores(2, 3, 3)
    shared = Chain().read({"emissions": x.numpy()})
    assert shared.main.ctypes.data == x.data_ptr()


def test_views_and_expanded_tensors():
    x = scores(3, 2, 4).transpose(0, 1)  # time first, as recurrent layers give it
    layer = StructuredHinge(Chain(), n_labels=4)
    y = torch.zeros(2, 3, dtype=torch.long)
    assert layer(x, y).item() == layer(x.contiguous(), y).item()
    wide = x[:1].expand(2, -1, -1)
    assert (layer.decode(wide)[0] == layer.decode(wide)[1]).all()


@pytest.fixture
def threads_for_everything(monkeypatch):
    """Small batches are otherwise left to one thread."""
    monkeypatch.setattr(batch, "WORTH_THREADS", 0.0)


def test_threads_change_nothing(threads_for_everything):
    x, y = scores(64, 20, 5).requires_grad_(), torch.randint(0, 5, (64, 20))
    found = []
    for n_jobs in (1, 2):
        for kind in ("hinge", "log-likelihood"):
            layer = structured_loss(kind, Chain(), n_labels=5, n_jobs=n_jobs)
            x.grad = None
            layer(x, y).backward()
            found.append((x.grad.clone(), layer.transitions.grad.clone()))
    for a, b in ((0, 2), (1, 3)):
        assert all((p == q).all() for p, q in zip(found[a], found[b], strict=True))


def test_noise_is_determined_by_its_seed():
    x, y = scores(2, 3, 3), torch.zeros(2, 3, dtype=torch.long)
    one, two = (PerturbedLoss(Chain(), n_labels=3, seed=7) for _ in range(2))
    first = [one(x, y).item() for _ in range(3)]
    assert first == [two(x, y).item() for _ in range(3)]
    assert len(set(first)) == 3
    one.reset()
    assert one(x, y).item() == first[0]


def test_reductions():
    x, y = scores(4, 3, 2), torch.zeros(4, 3, dtype=torch.long)
    each = StructuredHinge(Chain(), n_labels=2, reduction="none")(x, y)
    assert each.shape == (4,)
    for how in ("mean", "sum"):
        whole = StructuredHinge(Chain(), n_labels=2, reduction=how)(x, y)
        assert whole.item() == pytest.approx(getattr(each, how)().item())
    with pytest.raises(ValueError, match="reduction"):
        StructuredHinge(Chain(), n_labels=2, reduction="median")


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.layer = StructuredHinge(Chain(labels=NAMES, scheme="bio"))

    def forward(self, x, y):
        return self.layer(self.linear(x), y)


def test_compiled_modules():
    torch.manual_seed(0)
    model, x = Tagger(), scores(2, 5, 4)
    y = torch.tensor([[1, 2, 0, 0, 1]] * 2)
    plain = model(x, y)
    plain.backward()
    grad = model.linear.weight.grad.clone()
    model.zero_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of its compiler
        value = torch.compile(model, backend="eager")(x, y)
        value.backward()
    assert value.item() == plain.item()
    assert (model.linear.weight.grad == grad).all()


class Decoded(torch.utils.data.Dataset):
    def __init__(self):
        self.layer = StructuredHinge(Chain(), n_labels=4, n_jobs=2)
        self.x = scores(20, 5, 4)
        self.layer.decode(self.x)  # threads of the parent, gone in its children

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.layer.decode(self.x)


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # where JAX is loaded, too
def test_workers_of_data_loaders(threads_for_everything):
    rows = Decoded()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads
        loader = torch.utils.data.DataLoader(rows, num_workers=1, timeout=60)
        found = [x[0] for x in loader]
    assert all((x == rows[0]).all() for x in found)


def test_loopy_graphs_report_their_gap():
    edges = tuple((i, j) for i in range(10) for j in range(i))
    layer = StructuredHinge(Network(edges=edges, inference="trws"), n_labels=3)
    with torch.no_grad():
        layer.pairwise += scores(3, 3)
    x, y = scores(2, 10, 3), torch.zeros(2, 10, dtype=torch.long)
    layer(x, y)
    assert layer.gap.shape == (2,) and (layer.gap >= 0).all()
    chain = StructuredHinge(Network(edges=((0, 1),)), n_labels=3)
    chain(scores(2, 2, 3), torch.zeros(2, 2, dtype=torch.long))
    assert chain.gap == pytest.approx([0.0, 0.0], abs=1e-6)


def test_decoding_is_legal_on_any_logits():
    layer = StructuredHinge(Chain(labels=NAMES, scheme="bio"))
    for scale in (0.0, 1.0, 1e6):
        assert legal(layer.decode(scale * scores(50, 30, 3, seed=3)))


def test_nbest_and_max_marginals():
    layer = StructuredHinge(Chain(), n_labels=3)
    x = scores(2, 4, 3)
    many = layer.nbest(x, 3)
    best = layer.decode(x)
    assert [y[0].tolist() for y in many.outputs] == best.tolist()
    table = layer.max_marginals(x)
    assert (table.argmax(dim=2) == best).all()
    top = torch.tensor([s[0] for s in many.score])
    torch.testing.assert_close(table.amax(dim=(1, 2)), top.float())
    probability = layer.marginals(x)
    torch.testing.assert_close(probability.sum(dim=2), torch.ones(2, 4))


@pytest.mark.parametrize("kind", LOSSES)
def test_mistakes_name_the_row(kind):
    layer = structured_loss(kind, Chain(labels=NAMES, scheme="bio"))
    x, y = torch.zeros(3, 2, 3), torch.tensor([[0, 0], [0, 2], [0, 0]])
    with pytest.raises(ValueError, match="row 1, token 1: 'I-X' may not follow 'O'"):
        layer(x, y)
    x[2, 1, 0] = torch.nan
    with pytest.raises(ValueError, match=r"row 2: emissions\[1, 0\] is nan"):
        layer(x, torch.zeros(3, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="row 1 is empty"):
        layer(x, y, torch.tensor([2, 0, 1]))
    with pytest.raises(ValueError, match="target has shape"):
        layer(torch.zeros(3, 2, 3), torch.zeros(3, 3, dtype=torch.long))
    with pytest.raises(ValueError, match="row 0, position 1: label 7"):
        layer(torch.zeros(3, 2, 3), torch.tensor([[0, 7], [0, 0], [0, 0]]))
    with pytest.raises(ValueError, match="no mask"):
        packed = torch.nn.utils.rnn.pack_sequence([torch.zeros(2, 3)])
        layer(packed, y[:1], torch.tensor([2]))
    with pytest.raises(ValueError, match="no rows"):
        layer(torch.zeros(0, 2, 3), torch.zeros(0, 2, dtype=torch.long))
    assert layer.decode(torch.zeros(0, 2, 3)).shape == (0, 2)


def test_gradients_are_zero_where_nothing_is_violated():
    layer = StructuredHinge(Chain(), n_labels=2)
    x = torch.tensor([[[5.0, 0.0], [0.0, 5.0]]], requires_grad=True)
    loss = layer(x, torch.tensor([[0, 1]]))
    loss.backward()
    assert loss.item() == 0.0
    assert not np.any(x.grad.numpy())


def test_scores_that_are_no_tensors_are_refused():
    layer = StructuredHinge(Chain(), n_labels=2)
    for wrong in ([[[1.0, 2.0]]], np.zeros((1, 1, 2)), None):
        with pytest.raises((TypeError, ValueError), match=r"not a tensor|is missing"):
            layer(wrong, torch.zeros(1, 1, dtype=torch.long))
    given = {"emissions": torch.zeros(1, 1, 2), "transitions": np.zeros((2, 2))}
    with pytest.raises(TypeError, match="'transitions' is a ndarray, not a tensor"):
        layer.decode(given)


def test_nested_tensors_are_refused():
    layer = StructuredHinge(Chain(), n_labels=2)
    nested = torch.nested.nested_tensor(
        [torch.zeros(3, 2), torch.zeros(1, 2)], layout=torch.jagged
    )
    with pytest.raises(TypeError, match=r"pad it with torch\.nested\.to_padded_tensor"):
        layer.decode(nested)


def test_packed_targets():
    layer = StructuredHinge(Chain(), n_labels=2, reduction="none")
    x, y, n = scores(2, 3, 2), torch.tensor([[0, 1, 1], [1, 0, 0]]), [2, 3]
    pack = torch.nn.utils.rnn.pack_padded_sequence
    packed = [pack(t, n, batch_first=True, enforce_sorted=False) for t in (x, y)]
    torch.testing.assert_close(layer(*packed), layer(x, y, n))


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_scores_may_be_overwritten_after_the_loss(kind, reduction):
    layer = structured_loss(kind, Chain(), n_labels=3, reduction=reduction)
    y, grads = torch.tensor([[0, 1, 2], [2, 0, 1]]), []
    for overwrite in (False, True):
        leaf = scores(2, 3, 3).requires_grad_()
        x = leaf * 1.0
        if kind == "perturbed":
            layer.reset()
        loss = layer(x, y).sum()
        if overwrite:
            x.detach().mul_(3.0)
        loss.backward()
        grads.append(leaf.grad)
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("kind", LOSSES)
def test_second_derivatives_are_refused(kind):
    layer = structured_loss(kind, Chain(), n_labels=3)
    x, y = scores(1, 2, 3).requires_grad_(), torch.tensor([[0, 1]])
    loss = layer(x, y)
    plain = torch.autograd.grad(loss, x, retain_graph=True)[0]
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    torch.testing.assert_close(slope, plain)
    with pytest.raises(RuntimeError, match="once, not twice"):
        (loss + (slope**2).sum()).backward()


def test_one_table_to_learn_by_its_name():
    layer = StructuredHinge(Chain(), n_labels=2, learn="transitions")
    assert list(layer.state_dict()) == ["transitions"]


@pytest.mark.parametrize(
    "name, option",
    [
        ("softmax-margin", {"temperature": "1"}),
        ("softmax-margin", {"temperature": 0.0}),
        ("perturbed", {"samples": 2.5}),
        ("perturbed", {"samples": 0}),
        ("perturbed", {"sigma": float("nan")}),
        ("hinge", {"n_labels": 2.0}),
        ("hinge", {"n_labels": 0}),
    ],
)
def test_options_that_are_none(name, option):
    (key,) = option
    with pytest.raises(ValueError, match=f"{key}=.* must be a"):
        structured_loss(name, Chain(), **({"n_labels": 2} | option))


@pytest.mark.parametrize("name", ["hinge", "softmax-margin"])
def test_mistakes_are_found_when_the_layer_is_made(name):
    with pytest.raises(
        ValueError, match="loss='f1' is not one of 'hamming', 'zero-one'"
    ):
        structured_loss(name, Chain(), n_labels=2, loss="f1")
    with pytest.raises(ValueError, match="n_labels=2, but 3 labels have names"):
        structured_loss(name, Chain(labels=NAMES), n_labels=2)
    with pytest.raises(TypeError, match="must be an object such as Chain"):
        structured_loss(name, Chain, n_labels=2)
