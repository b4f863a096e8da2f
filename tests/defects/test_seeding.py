"""The seeded defects are texts of the code as it is."""

from pathlib import Path

import pytest

from tests.defects.records import DEFECTS, Defect

CODE = Path(__file__).parents[2] / "appyc"


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_text_to_replace_occurs_once(defect: Defect) -> None:
    assert (CODE / defect.file).read_text().count(defect.old) == 1
