"""Where the oracle runs: threads, processes, a Dask cluster.

choose.py      Engines by name
threads.py     A pool of threads, for compiled oracles, which release the GIL
processes.py   A pool of processes, for oracles written in Python, which hold the GIL
dask.py        A cluster of machines, through dask.distributed
dask_tasks.py  The functions that workers of a cluster run; Dask sends them by name
shipment.py    How the data that all questions share are sent to other processes
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
