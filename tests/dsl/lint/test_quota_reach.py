"""What the lints take for the reach of a queue is what the core's quota tree says."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.lint.quota_reach import Reach
from gpol.engine.definition.quota.tree import QuotaTree

TREES = [
    "queue a { owns 4 gpu }\nqueue b { owns nothing }\n",
    "queue a {\n  owns 4 gpu\n  lends up to 1 gpu\n}\nqueue b { borrows up to 2 gpu }\n",
    "cohort c {\n  owns 2 gpu\n  borrows nothing\n  queue a {\n    owns 3 gpu\n    guarantees 2 gpu\n  }\n  queue b { }\n}\nqueue d { }\n",
    "cohort c {\n  lends up to 1 gpu\n  cohort e {\n    lends nothing\n    queue a { owns 5 gpu }\n"
    "    queue b { borrows up to 1 gpu }\n  }\n  queue f { borrows nothing }\n}\nqueue d { borrows up to 20 gpu }\n",
]


@pytest.mark.parametrize("exists", [16, 8])
@pytest.mark.parametrize("queues", TREES)
def test_at_once(queues, exists):
    """With one root above all, what nobody owns is everybody's, and nobody uses more than exists."""
    graph = compile_policy(f'policy "p" {{ }}\nflavor h {{ gpu {exists} }}\n{queues}', "p.gpol")
    tree = QuotaTree(graph, [dict(graph.flavors[0].capacity)["gpu"]])
    reach = Reach(graph)
    assert [[tree.most(queue.node, 0)] for queue in graph.queues] == [list(reach.most[queue.node]) for queue in graph.queues]


@pytest.mark.parametrize("queues", TREES)
def test_in_cycles(queues):
    """Each tree is on its own, and what exists is what is owned."""
    served = queues.replace("queue a {", "queue a {\n  serves gpu from h\n")
    for name in "bdf":
        served = served.replace(f"queue {name} {{", f"queue {name} {{\n  serves gpu from h\n")
    served = served.replace(" owns", "\n owns").replace(" borrows", "\n borrows").replace(" }", "\n }")
    graph = compile_policy(f'policy "p" {{ use kueue.classical }}\nflavor h {{ gpu as owned }}\n{served}', "p.gpol")
    tree = QuotaTree(graph, [dict(graph.flavors[0].capacity)["gpu"]])
    reach = Reach(graph)
    assert [[tree.most(queue.node, 0)] for queue in graph.queues] == [list(reach.most[queue.node]) for queue in graph.queues]


def test_where_nodes_say_what_exists_nothing_is_short():
    """There is no telling how much nodes bring, so only a queue's own limits count."""
    graph = compile_policy(
        'policy "p" { }\nflavor h { gpu from nodes where a = "b" }\nqueue a { }\nqueue b { borrows up to 2 gpu }\n', "p.gpol"
    )
    reach = Reach(graph)
    assert reach.exists(0) is None
    assert reach.most[graph.queues[0].node][0] > 10**15
    assert reach.most[graph.queues[1].node][0] == 2000
