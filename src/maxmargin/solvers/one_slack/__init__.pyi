from .cutting_plane import OneSlack as OneSlack
from .qp import maximise as maximise
