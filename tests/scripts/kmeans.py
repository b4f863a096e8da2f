"""k-means: nearest centres, and sums into the centres that the labels name."""

import sys

import numpy as np


def assign(points, centres, labels):
    changed = 0
    for i in range(points.shape[0]):
        best, where = np.inf, 0
        for c in range(centres.shape[0]):
            d = 0.0
            for k in range(points.shape[1]):
                t = points[i, k] - centres[c, k]
                d += t * t
            if d < best:
                best = d
                where = c
        if labels[i] != where:
            labels[i] = where
            changed += 1
    return changed


def update(points, labels, centres):
    counts = np.zeros(centres.shape[0])
    centres[:] = 0.0
    for i in range(points.shape[0]):
        label = labels[i]
        counts[label] += 1
        for k in range(points.shape[1]):
            centres[label, k] += points[i, k]
    for c in range(centres.shape[0]):
        if counts[c] > 0:
            for k in range(centres.shape[1]):
                centres[c, k] /= counts[c]
    return counts


n = int(sys.argv[1]) if len(sys.argv) > 1 else 800
rng = np.random.default_rng(3)
points = np.concatenate([rng.normal(m, 1.0, (n // 4, 4)) for m in (-6.0, -2.0, 2.0, 6.0)])
centres = points[:: n // 5].copy()
labels = np.full(points.shape[0], -1)
round_ = 0
while True:
    changed = assign(points, centres, labels)
    counts = update(points, labels, centres)
    round_ += 1
    print("round", round_, "changed", changed)
    if changed == 0 or round_ > 20:
        break
print(counts.tolist())
print(centres)
