"""Handwritten postcodes: sequences beat single digits

Scanned digits are hard to read one by one. Postcodes repeat, so a model that knows which
digit follows which reads them better. `MulticlassSVM` sees each digit alone, `ChainSVM`
sees the whole postcode.
"""

# %%
# Postcodes are made from scikit-learn's scans of digits; some of the ink is removed.
import numpy as np

from maxmargin import ChainSVM, MulticlassSVM
from maxmargin.datasets.postcodes import written_postcodes

train, test = written_postcodes(seed=0)
truth = np.array(test.digits)
print(len(train.digits), "postcodes to learn from,", len(truth), "to read")

# %%
# Digit by digit, and as sequences of order 2 (each digit depends on the two before it):
alone = MulticlassSVM(C=0.1)
alone.fit(np.vstack(train.images), np.concatenate(train.digits))
by_digit = alone.predict(np.vstack(test.images)).reshape(truth.shape)

chain = ChainSVM(C=0.1, order=2).fit(train.images, train.digits)
by_chain = np.array([list(row) for row in chain.predict(test.images)])

for name, read in (("digit by digit", by_digit), ("as a sequence", by_chain)):
    wrong = read != truth
    print(f"{name:15s} {wrong.mean():6.1%} of digits wrong, "
          f"{(~wrong.any(axis=1)).mean():6.1%} of postcodes right")  # fmt: skip

# %%
# A few of them, with what both models read:
from maxmargin.reports.drawing.postcodes import draw_postcodes

gain = (by_digit != truth).sum(axis=1) - (by_chain != truth).sum(axis=1)
best = np.argsort(-gain, kind="stable")[:4]
draw_postcodes(
    "read.png", [test.images[i] for i in best], truth[best].tolist(),
    by_digit[best].tolist(), by_chain[best].tolist(), "Digit by digit, and as a sequence",
)  # fmt: skip
