"""Generators that iterations make for themselves, as kernels; tests/programs runs them in the interpreter."""

import numpy as np

from tests.programs.made_generators import counted, normals
from tests.triton_gen.gpu_runner import cubins
from tests.triton_gen.source_runner import compare, program_of


def test_a_counter_based_generator_in_a_kernel():
    compare(counted, np.zeros((33, 3)), 5)


def test_normal_numbers_in_a_kernel():
    cubins(program_of(normals, np.zeros((33, 9))), libm=True)
