"""Where the oracle runs: threads, processes, a Dask cluster.

choose.py      Engines by name
dask.py        A cluster, by way of dask.distributed
dask_tasks.py  What workers of a cluster run: functions of a module, so that they
processes.py   A pool of processes, for oracles written in Python, which threads cannot
shipment.py    What is sent to other processes, and how: homes with their large arrays
threads.py     A pool of threads over loops that hold no GIL
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
