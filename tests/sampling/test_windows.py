"""Tables as a round reads them."""

from __future__ import annotations

import numpy as np
import pytest

from redraft.sampling.windows import Window
from redraft.tree import chain, kary


@pytest.mark.parametrize("step", [[2], [0, 4, 3]])
def test_a_node_reads_its_step_and_the_last_one_past_the_end(step: list[int]) -> None:
    table, tree = np.array([10.0, 11.0, 12.0, 13.0, 14.0]), kary(2, 3)
    found = Window(table, tree.height).read(np.array(step), tree)
    wanted = table[np.minimum(np.array(step)[:, None] + tree.depth, 4)]
    assert np.array_equal(found, wanted)
    cut = Window(table, 4).read(np.array(step), chain(3))
    assert np.array_equal(cut, table[np.minimum(np.array(step)[:, None] + np.arange(3), 4)])
