"""Model files in memory, and ways to take them apart and put them together."""

import hashlib
import io
import json
import zipfile

from maxmargin import load, save
from small.models import multiclass


def saved(model):
    out = io.BytesIO()
    save(model, out)
    return out.getvalue()


def loaded(data, **settings):
    return load(io.BytesIO(data), **settings)


def small_file():
    """A file, and what its model predicts."""
    model, X = multiclass()
    return saved(model), X, model.predict(X)


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts, way=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", way) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    return out.getvalue()


def resealed(parts, head):
    """The file with another manifest, all checksums right."""
    arrays = [parts[f"arrays/{k}.npy"] for k in range(len(parts) - 2)]
    if isinstance(head, dict):
        head["arrays"] = [
            {"size": len(a), "sha256": hashlib.sha256(a).hexdigest()} for a in arrays
        ]
        head = json.dumps(head).encode()
    parts = {**parts, "manifest.json": head}
    parts["manifest.sha256"] = hashlib.sha256(head).hexdigest().encode()
    return zipped(parts.items())
