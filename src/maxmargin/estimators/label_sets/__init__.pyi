from .multilabel import MultilabelSVM as MultilabelSVM
