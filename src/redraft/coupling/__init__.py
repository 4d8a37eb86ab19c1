"""One accept-or-reject decision: pairs of laws and the verifiers written over them."""

from redraft.coupling.categorical import CategoricalPair
from redraft.coupling.gaussian import GaussianPair
from redraft.coupling.greedy import Greedy
from redraft.coupling.optimal import Optimal
from redraft.coupling.pair import Pair
from redraft.coupling.ranked import Ranked
from redraft.coupling.reflection import Reflection
from redraft.coupling.traversal import Traversal
from redraft.coupling.verifier import Verdict, Verifier, offered

VERIFIERS = {
    "greedy": Greedy,
    "reflection": Reflection,
    "traversal": Traversal,
    "ranked": Ranked,
    "optimal": Optimal,
}

__all__ = [
    "VERIFIERS",
    "CategoricalPair",
    "GaussianPair",
    "Greedy",
    "Optimal",
    "Pair",
    "Ranked",
    "Reflection",
    "Traversal",
    "Verdict",
    "Verifier",
    "offered",
]
