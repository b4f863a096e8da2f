"""Bodies that attract each other: a class with arrays in it, and a method with the loops."""

import math
import sys

import numpy as np


class System:
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.position = rng.standard_normal((count, 3))
        self.velocity = np.zeros((count, 3))
        self.mass = rng.random(count) + 0.5

    def accelerate(self, dt):
        position, velocity, mass = self.position, self.velocity, self.mass
        n = position.shape[0]
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                r2 = dx * dx + dy * dy + dz * dz + 0.01
                f = mass[j] / (r2 * math.sqrt(r2))
                ax += f * dx
                ay += f * dy
                az += f * dz
            velocity[i, 0] += dt * ax
            velocity[i, 1] += dt * ay
            velocity[i, 2] += dt * az

    def move(self, dt):
        for i in range(self.position.shape[0]):
            for k in range(3):
                self.position[i, k] += dt * self.velocity[i, k]

    def energy(self):
        kinetic = 0.0
        for i in range(self.mass.shape[0]):
            speed2 = 0.0
            for k in range(3):
                speed2 += self.velocity[i, k] ** 2
            kinetic += 0.5 * self.mass[i] * speed2
        return kinetic


def main(count, steps):
    system = System(count, seed=1)
    for number in range(steps):
        system.accelerate(0.001)
        system.move(0.001)
        if number % 5 == 0:
            print(number, system.energy())
    print(system.position[0], system.velocity[-1])


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:]] or [60, 20]
    main(*sizes)
