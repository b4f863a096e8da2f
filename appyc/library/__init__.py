"""Functions of NumPy, `math` and other libraries as plain Python, compiled at their calls (`table.py`)."""

from appyc.library import accumulations as accumulations
from appyc.library import arranging as arranging
from appyc.library import bessel as bessel
from appyc.library import comparing as comparing
from appyc.library import elementary as elementary
from appyc.library import histograms as histograms
from appyc.library import indexed_arrays as indexed_arrays
from appyc.library import iterating as iterating
from appyc.library import linear_systems as linear_systems
from appyc.library import mathematics as mathematics
from appyc.library import orthogonal as orthogonal
from appyc.library import searching as searching
from appyc.library import signals as signals
from appyc.library import sorting as sorting
from appyc.library import special as special
from appyc.library import statistics as statistics
from appyc.library import without_nan as without_nan
