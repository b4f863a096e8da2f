"""NumPy's functions as plain Python, compiled at their calls like any function (`table.py`)."""

from appyc.library import accumulations as accumulations
from appyc.library import comparing as comparing
from appyc.library import elementary as elementary
from appyc.library import histograms as histograms
from appyc.library import searching as searching
from appyc.library import without_nan as without_nan
from appyc.library.table import FUNCTIONS as FUNCTIONS
from appyc.library.table import METHODS as METHODS
from appyc.library.table import Text as Text
