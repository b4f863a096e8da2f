"""Compiled functions over chunked arrays: graphs of Dask's whose tasks are compiled loops."""
