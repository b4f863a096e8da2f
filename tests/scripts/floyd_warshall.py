"""All shortest paths: plain loops in the script itself, no function at all."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 60
rng = np.random.default_rng(7)
distance = rng.integers(1, 100, (n, n)).astype(float)
distance[rng.random((n, n)) < 0.8] = np.inf

for i in range(n):
    distance[i, i] = 0.0

for k in range(n):
    for i in range(n):
        for j in range(n):
            through = distance[i, k] + distance[k, j]
            distance[i, j] = min(distance[i, j], through)

reachable = 0
longest = 0.0
for i in range(n):
    for j in range(n):
        if distance[i, j] < np.inf:
            reachable += 1
            longest = max(longest, distance[i, j])

print("reachable", reachable, "of", n * n)
print("longest", longest)
print(distance[0, :8])
