"""The distances of umap, of dense and of sparse vectors, and one embedding."""

import inspect
import warnings

import numpy as np
import umap
import umap.distances
import umap.sparse

rng = np.random.default_rng(0)
x, y = rng.random(256), rng.random(256)
x[::7] = y[::5] = 0
first, second = (np.flatnonzero(v).astype(np.int32) for v in (x, y))
sparse = [first, x[first].astype(np.float32), second, y[second].astype(np.float32)]
for module in (umap.distances, umap.sparse):
    for fn in [f for f in vars(module).values() if hasattr(f, "py_func") and f.__module__ == module.__name__]:
        names = list(inspect.signature(fn.py_func).parameters)
        if names == ["x", "y"] and "haversine" not in fn.__name__:
            fn(x, y)
        elif names[:4] == ["ind1", "data1", "ind2", "data2"]:
            fn(*sparse, *([256] if len(names) > 4 else []))
points = np.concatenate([rng.normal(k, 1, (40, 6)) for k in range(3)]).astype(np.float32)
warnings.simplefilter("ignore")
umap.UMAP(n_neighbors=8, n_epochs=5, random_state=1).fit(points).transform(points[:10])
