"""Matrix profiles of short series: the public functions of stumpy."""

import numpy as np
import stumpy

rng = np.random.default_rng(0)
series, m = np.cumsum(rng.standard_normal(120)), 12
several = rng.standard_normal((3, 80))
profile = stumpy.stump(series, m)
stumpy.aamp(series, m)
stumpy.scrump(series, m).update()
stumpy.motifs(series, profile[:, 0].astype(float))
stumpy.match(series[:m], series)
stumpy.mass(series[:m], series)
stumpy.stumpi(series, m).update(0.3)
stumpy.fluss(profile[:, 1], m, 3)
stumpy.mstump(several, 8)
stumpy.maamp(several, 8)
stumpy.ostinato([series, series[::-1].copy(), series**2], 10)
stumpy.snippets(series, 20, 2)
