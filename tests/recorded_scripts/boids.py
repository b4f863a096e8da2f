"""A flock: each of its members is drawn to those near it, flies as they do, and keeps off the closest."""

import sys

import numpy as np


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    rng = np.random.RandomState(0)
    at, speed = np.array(rng.rand(n, 2) * 100), np.array(rng.rand(n, 2) - 0.5)
    for step in range(steps):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.sqrt((apart**2).sum(axis=2))
        near = (distance > 0) & (distance < 10)
        close = (distance > 0) & (distance < 3)
        count = np.maximum(near.sum(axis=1), 1)[:, None]
        is_alone = ~near.any(axis=1)[:, None]
        centre = (near[:, :, None] * at[None, :, :]).sum(axis=1) / count
        cohesion = np.where(is_alone, 0, centre - at)
        mean = (near[:, :, None] * speed[None, :, :]).sum(axis=1) / count
        alignment = np.where(is_alone, 0, mean - speed)
        separation = (close[:, :, None] * apart).sum(axis=1)
        speed = speed + 0.01 * cohesion + 0.05 * alignment + 0.05 * separation
        length = np.sqrt((speed**2).sum(axis=1))
        speed = speed / np.maximum(length, 1e-9)[:, None] * np.clip(length, 0.5, 2)[:, None]
        at = (at + speed) % 100
        if step % 20 == 0:
            print(step, bool(at.max() < 100))
    print(bool(np.isfinite(at).all()), at.shape)


main()
