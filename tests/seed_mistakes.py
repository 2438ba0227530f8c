"""Seeds mistakes into the core, one at a time, and shows which tests catch each: `python tests/seed_mistakes.py [--laws] [NUMBER ...]`.

Works on a copy of the rooms and the tests in a temporary folder; the project itself is not touched. Ends with 0 where
every mistake is caught by the test that is there for it; the laws alone may need luck, and are asked only with `--laws` or
where that test fails to catch its mistake. The table in docs/testing.md is its output. A test that fails without any mistake
ends the program at once.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "compiled", "dsl", "journal", "policies", "sim", "adapters", "cli")
CASES, TABLES, LAWS = "tests/engine", "tests/engine/core", "tests/property/test_laws.py"
NOT_ENDING = "the core does not come to rest"

FOR_THE_COPY = f"""
import signal
import time
from collections.abc import Iterator

from hypothesis import Phase

settings.register_profile("seeded", settings.get_profile("ci"), max_examples=20, phases=[Phase.explicit, Phase.generate])
settings.load_profile("seeded")


def _stop(*_: object) -> None:
    raise TimeoutError("{NOT_ENDING}")


@pytest.fixture(autouse=True)
def ending(request: pytest.FixtureRequest) -> Iterator[None]:
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1 if "engine" in request.path.parts and "core" not in request.path.parts else 20, 1)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if time.process_time() > 240:
        request.session.shouldstop = "four minutes are over"
"""
"""Added to the copy of `tests/conftest.py`: a test of the core that takes a second fails, and so does a law that takes 20, or a test that
compares the two cores; after four minutes the rest is left out. These are seconds of the process, so that what else the machine does makes
no test fail. A law that breaks is not shrunk to its smallest example, and the examples are fixed, so the table is the same in every run.
"""


@dataclass(frozen=True)
class Mistake:
    """A piece of a module of the core, what stands there by mistake, and the test of `tests/engine` that is there to catch it."""

    what: str
    module: str
    right: str
    wrong: str
    test: str

    @property
    def in_tables(self) -> bool:
        """Whether it is in the core over arrays."""
        return self.module.startswith("core/")


@dataclass(frozen=True)
class Failures:
    """The names of the tests that failed, each once; `stopped` are those of them that did not end."""

    tests: list[str]
    stopped: frozenset[str]

    def and_also(self, other: "Failures") -> "Failures":
        """Those of this run and of another one."""
        return Failures(self.tests + other.tests, self.stopped | other.stopped)

    def by(self, mistake: Mistake) -> bool:
        """Whether the test that is there for a mistake caught it: by failing, not by being stopped."""
        test = f"engine/{mistake.test}"
        return test in self.tests and test not in self.stopped


MISTAKES = (
    Mistake(
        "use within the local quota is carried by the parent as well",
        "definition/quota/tree.py",
        "carried = max(0, carried - kept)",
        "carried = carried",
        "definition/quota/test_quota.py::test_carried_use",
    ),
    Mistake(
        "a charge taken back leaves ancestors carrying it",
        "definition/quota/tree.py",
        "                    carried = min(carried, max(0, beyond_local))",
        "                    carried = 0",
        "definition/quota/test_quota.py::test_taking_back_undoes_in_any_order",
    ),
    Mistake(
        "the borrowing limit is one GPU too high",
        "definition/quota/tree.py",
        "return lent_to_parent - used_in_parent + limit",
        "return lent_to_parent - used_in_parent + limit + 1000",
        "definition/admission/test_admission.py::test_how_far_a_queue_reaches",
    ),
    Mistake(
        "a guarantee is lent all the same",
        "definition/quota/tree.py",
        "local = 0 if quota.lending_limit is None else max(0, owned - quota.lending_limit)",
        "local = 0",
        "definition/quota/test_quota.py::test_owned_kept_and_within_reach",
    ),
    Mistake(
        "shares forget the weight",
        "definition/quota/fair_share.py",
        "weighted = unweighted if weight == 1 else unweighted / weight",
        "weighted = unweighted",
        "definition/queue/test_order.py::test_a_weight_divides_the_share",
    ),
    Mistake(
        "ties between workloads of a queue go to the later submission",
        "definition/queue/line.py",
        "workload.fact.uid, workload.number)",
        "workload.fact.uid, -workload.number)",
        "definition/queue/test_order.py::test_ties_within_a_queue",
    ),
    Mistake(
        "a pod set does not see what the ones before it took",
        "definition/flavor/assigner.py",
        "assumed = usage.get(slot, 0)",
        "assumed = 0",
        "definition/flavor/test_flavors.py::test_pod_sets_add_up",
    ),
    Mistake(
        "a strict queue lets others pass its head",
        "definition/admission/settle.py",
        "            if strict:\n                break",
        "            if False:\n                break",
        "definition/admission/test_admission.py::test_whether_a_waiting_head_lets_others_pass",
    ),
    Mistake(
        "nothing is reserved for a workload that waits for protections to end",
        "definition/admission/settle.py",
        "charged(best.queue, best.flavors.request, places)",
        "charged(best.queue, (), ())",
        "definition/preemption/test_protection.py::test_room_is_reserved_while_protections_run",
    ),
    Mistake(
        "queues that no longer borrow are still reclaimed from",
        "definition/preemption/rules.py",
        " for queue in queues if self.reaches(rule, queue) for",
        " for queue in queues for",
        "definition/preemption/test_victims.py::test_a_queue_is_spared_once_it_borrows_no_more",
    ),
    Mistake(
        "among equal victims the earlier submission goes",
        "definition/preemption/rules.py",
        "for key in rule.order), -each.number), each",
        "for key in rule.order), each.number), each",
        "definition/preemption/test_victims.py::test_equal_victims_go_by_later_submission",
    ),
    Mistake(
        "victims that are not needed are not spared",
        "definition/preemption/rules.py",
        "        if fits():\n            kept.remove(each)",
        "        if False:\n            kept.remove(each)",
        "definition/preemption/test_victims.py::test_victims_that_turn_out_not_to_be_needed_are_spared",
    ),
    Mistake(
        "what a fact admitted may be evicted for its sake",
        "definition/preemption/rules.py",
        " and each.started_by != self.cause",
        "",
        "definition/preemption/test_ahead.py::test_any_next_fact_will_do",
    ),
    Mistake(
        "protections are not looked at",
        "definition/preemption/rules.py",
        "return next((protect for protect in self.protecting(each.queue) if self.values.holds(protect.guard, each)), None)",
        "return None",
        "definition/preemption/test_protection.py::test_whom_a_protection_covers",
    ),
    Mistake(
        "the core wakes when a duration equals its limit, though the guard includes that moment",
        "definition/state/guard_values.py",
        '"<=": {reached + 1}, ">": {reached + 1}',
        '"<=": {reached}, ">": {reached}',
        "definition/preemption/test_protection.py::test_a_protection_ends_to_the_microsecond",
    ),
    Mistake(
        "pods that are done stay charged",
        "intake/changes.py",
        "asked_by_one(pod_set, resource) * (min(count, left) - min(count, rest))",
        "0",
        "definition/transition/test_changes.py::test_done_pods_make_room",
    ),
    Mistake(
        "of several limits in the way the mildest is named",
        "outcome/decision.py",
        "return max(limits, key=",
        "return min(limits, key=",
        "explain/test_why.py::test_the_binding_limit_leaves_the_greatest_part_unserved",
    ),
    Mistake(
        "of the moments ahead only the last is tried",
        "definition/preemption/lookahead.py",
        "for moment in _moments(present):",
        "for moment in _moments(present)[-1:]:",
        "definition/preemption/test_ahead.py::test_as_soon_as_enough_are_free_to_go",
    ),
    Mistake(
        "there is no wake for whom only the fact that admitted it keeps",
        "definition/preemption/lookahead.py",
        "if present.at(moment).run():",
        "if moment > present.now and present.at(moment).run():",
        "definition/preemption/test_ahead.py::test_whom_only_the_fact_kept_goes_with_the_next_one",
    ),
    Mistake(
        "whom a share keeps is taken to be kept at every moment ahead",
        "definition/preemption/lookahead.py",
        "values.holds(guard, each, wanted, (Type.SHARE,))",
        "values.holds(guard, each, wanted)",
        "definition/preemption/test_ahead.py::test_a_share_that_falls_frees_others",
    ),
    Mistake(
        "a strict queue lets others pass a head that waits for protections to end",
        "definition/admission/settle.py",
        "if strict and any(nomination.queue == queue for nomination in self.reserved):",
        "if False:",
        "definition/preemption/test_ahead.py::test_whether_others_pass_a_head_that_waits_for_a_protection",
    ),
    Mistake(
        "over tables, the borrowing limit is one GPU too high",
        "core/kernels/quota/tree.py",
        "t.quota[node, slot, c.OWNED] + limit - t.quota",
        "t.quota[node, slot, c.OWNED] + limit + 1000 - t.quota",
        "core/test_histories.py::test_generated_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, shares forget the weight",
        "core/kernels/quota/shares.py",
        "return level, above * parts, below * weight",
        "return level, above, below",
        "core/test_concepts.py::test_a_weight_divides_a_share",
    ),
    Mistake(
        "over tables, a pod set without pods gets flavors",
        "core/kernels/flavor/pod_sets.py",
        "return not t.state[c.TOGETHER] or t.pods[pod_set] > 0",
        "return True",
        "core/test_concepts.py::test_a_pod_set_without_pods_gets_no_flavor",
    ),
    Mistake(
        "over tables, a queue would rather do what it would rather not",
        "core/kernels/flavor/rank.py",
        "    if t.node[queue, c.RATHER_EVICT]:",
        "    if not t.node[queue, c.RATHER_EVICT]:",
        "core/test_concepts.py::test_what_a_queue_would_rather_do",
    ),
    Mistake(
        "over tables, of the flavors of a group the most severe reason counts",
        "core/kernels/flavor/reasons.py",
        "mildest == c.NONE or worse == mildest else mildest",
        "mildest == c.NONE or worse == reason else mildest",
        "core/test_histories.py::test_generated_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, who was admitted first is evicted first",
        "core/kernels/preemption/candidates.py",
        "return t.when[left, c.ADMITTED] > t.when[right, c.ADMITTED]",
        "return t.when[left, c.ADMITTED] < t.when[right, c.ADMITTED]",
        "core/test_concepts.py::test_of_equal_candidates_the_one_that_was_admitted_last_goes",
    ),
    Mistake(
        "over tables, queues that no longer borrow are still reclaimed from, classically",
        "core/kernels/preemption/classical.py",
        " and all_borrow(t, queue, node, need)",
        "",
        "core/test_concepts.py::test_a_queue_that_no_longer_borrows_is_spared",
    ),
    Mistake(
        "over tables, a victim stays where the shares would be even",
        "core/kernels/preemption/fair.py",
        "order_of_shares(t, mine, theirs_after) <= 0",
        "order_of_shares(t, mine, theirs_after) < 0",
        "core/test_concepts.py::test_a_victim_may_go_until_shares_are_even",
    ),
    Mistake(
        "over tables, victims that are not needed are not spared",
        "core/kernels/preemption/trial.py",
        "for at in range(t.state[c.VICTIMS] - 2, -1, -1):",
        "for at in range(0):",
        "core/test_histories.py::test_generated_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, there is no wake for whom only the fact that admitted it keeps",
        "core/kernels/preemption/ahead.py",
        "if fresh and earliest <= now and search_by_rules",
        "if False and search_by_rules",
        "core/test_kept_refusals.py::test_crowded_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, a duration turns a microsecond early",
        "core/kernels/guards.py",
        "        for moment in (reached, reached + 1):",
        "        for moment in (reached - 1, reached):",
        "core/test_concepts.py::test_a_protection_ends_to_the_microsecond",
    ),
    Mistake(
        "over tables, ties in a line go to the later submission",
        "core/kernels/line.py",
        "return 0 if first == second else -1 if first < second else 1",
        "return 0 if first == second else 1 if first < second else -1",
        "core/test_histories.py::test_generated_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, who asks for the same is kept together, whatever their past",
        "core/kernels/preemption/rules.py",
        "t.pool[rule_at(t, rule) + c.L_BY_KIND] == 1 and t.node[node, c.KEPT_BY_KIND] == 1",
        "True",
        "core/test_kept_refusals.py::test_who_asks_for_the_same_may_have_another_past",
    ),
    Mistake(
        "over tables, whoever was nominated last is what is recorded",
        "core/kernels/settle.py",
        "if t.state[c.NOMINATED] != row:",
        "if t.state[c.NOMINATED] == c.NONE:",
        "core/test_kept_refusals.py::test_crowded_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, who is parked stays parked where something became free",
        "core/kernels/watch/parked.py",
        "t.node[top, c.EPOCH] += 1",
        "t.node[top, c.EPOCH] += 0",
        "core/test_histories.py::test_generated_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, of the queues that a change helps only every other one beside it is found",
        "core/kernels/watch/asked.py",
        "        if at % 2 == 0 and is_met(t, parent, at + 1):",
        "        if at % 4 == 0 and is_met(t, parent, at + 1):",
        "core/test_kept_refusals.py::test_crowded_histories_are_decided_alike",
    ),
    Mistake(
        "over tables, of the trees in which something became free only the last one is looked at",
        "core/kernels/cycle.py",
        "top = t.node[top, c.NEXT_STIRRED]",
        "top = c.NONE",
        "core/test_parked.py::test_all_trees_in_which_something_became_free_are_looked_at",
    ),
    Mistake(
        "over tables, what others ask for stays as it was where the greatest share grew",
        "core/kernels/watch/needs.py",
        "    if t.node[node, c.STALE]:",
        "    if False:",
        "core/test_asked.py::test_nobody_who_is_helped_is_left_out",
    ),
    Mistake(
        "over tables, what all who are live ask for together is not bounded",
        "core/demands.py",
        "head[c.S_MOST] = most if policy.graph.settings.heads_keep_room else 0",
        "head[c.S_MOST] = 0",
        "core/test_sums.py::test_heads_that_keep_all_that_exists_are_decided_alike",
    ),
    Mistake(
        "over tables, what a workload asked for is noted of the next one in its row, too",
        "core/kernels/line.py",
        "    if t.nom[nom, c.N_NOTED] == row + 1:",
        "    if False:",
        "core/test_heads.py::test_what_a_head_asks_for_is_noted_of_it_alone",
    ),
    Mistake(
        "over tables, a head keeps its keys when it goes on to another flavor",
        "core/kernels/requests.py",
        "if t.ask[plain_of(nom), k, c.SLOT] != t.ask[usage_of(nom), k, c.SLOT]:",
        "if False:",
        "core/test_heads.py::test_a_head_that_goes_on_to_another_flavor_is_compared_by_it",
    ),
    Mistake(
        "over tables, what a workload asks for is not bounded where its queue becomes known late",
        "core/store.py",
        "self._vet_sum(workload, int(self.tables.spec[self.tables.work[row, c.SPEC] + c.S_MOST]))",
        "self.vet(workload)",
        "core/test_sums.py::test_a_queue_that_is_told_late_counts_as_well",
    ),
    Mistake(
        "over tables, what queues keep for themselves counts for the borrowing limit of their cohort where others would have to go",
        "core/kernels/watch/reach.py",
        "by_limits = min(by_limits, kept + limit_left(t, node, slot))",
        "by_limits = min(by_limits, limit_left(t, node, slot))",
        "core/test_kept_refusals.py::test_what_a_queue_keeps_for_itself_is_not_limited",
    ),
    Mistake(
        "over tables, a borrowing limit refuses a workload for whom others of its queue would go",
        "core/kernels/preemption/victims.py",
        "        stands = exceeds_limit(t, queue, ask)",
        "        stands = True",
        "core/test_limit_stands.py::test_who_goes_in_the_own_queue_makes_room_below_the_limit",
    ),
    Mistake(
        "over tables, nobody is asked to go whose share is just as great",
        "core/kernels/preemption/fair.py",
        "order_of_shares(t, share(t, ours), share(t, each)) <= 0",
        "order_of_shares(t, share(t, ours), share(t, each)) < 0",
        "core/test_fair_search.py::test_a_share_that_is_as_great_may_give",
    ),
    Mistake(
        "over tables, a node that borrows two slots leaves the list of borrowers when it ceases to borrow the first",
        "core/kernels/quota/borrowers.py",
        "if t.node[node, c.SLOTS_BORROWED] == 0:",
        "if True:",
        "core/test_borrowers.py::test_each_child_that_borrows_stands_in_the_list_of_its_cohort",
    ),
    Mistake(
        "over tables, a search by shares begins only where somebody borrows in the cohort of the queue",
        "core/kernels/preemption/fair.py",
        "        ours, above = above, t.node[above, c.PARENT]\n    return False",
        "        return False\n    return False",
        "core/test_kueues_searches.py::test_who_borrows_in_another_cohort_may_give_by_share",
    ),
    Mistake(
        "over tables, who is as important and newer is not found behind somebody whom the policy keeps",
        "core/kernels/preemption/candidates.py",
        " + int(policy == c.POLICY_NEWER)",
        "",
        "core/test_kueues_searches.py::test_who_uses_something_else_does_not_hide_who_comes_next",
    ),
    Mistake(
        "over tables, a queue gives as long as it borrows itself, though its cohort does not",
        "core/kernels/preemption/classical.py",
        " and all_borrow(t, queue, node, need)",
        " and borrows(t, node, need)",
        "core/test_kueues_searches.py::test_a_cohort_that_no_longer_borrows_is_spared",
    ),
    Mistake(
        "a leader stands where it takes the most from its workers",
        "definition/placement/room.py",
        "led = total - min(pods[index]",
        "led = total - max(pods[index]",
        "definition/placement/test_room.py::test_a_leader_stands_where_it_takes_the_least",
    ),
    Mistake(
        "a part of a slice may be torn apart",
        "definition/placement/room.py",
        "part = wish.inner.get(level + 1, 1)",
        "part = 1",
        "definition/placement/test_room.py::test_parts_of_slices_are_whole",
    ),
    Mistake(
        "of the domains with room the one is taken that is left emptiest",
        "definition/placement/fill.py",
        "return min(enough, key=",
        "return max(enough, key=",
        "definition/placement/test_fill.py::test_best_fit",
    ),
    Mistake(
        "pods that may stand anywhere fill the largest domains first",
        "definition/placement/fill.py",
        "(sign * self.rooms[domain].slices, self.rooms[domain].pods, domain)",
        "(-self.rooms[domain].slices, self.rooms[domain].pods, domain)",
        "definition/placement/test_fill.py::test_least_free",
    ),
    Mistake(
        "pods that have to stand within a domain stand in several",
        "definition/placement/fill.py",
        "        if wish.required:\n",
        "        if False:\n",
        "definition/placement/test_fill.py::test_within_a_level",
    ),
    Mistake(
        "a leader goes to the first domain, whatever it takes from the workers",
        "definition/placement/fill.py",
        "and there - taken >= needed:",
        "and True:",
        "definition/placement/test_fill.py::test_a_leader_stands_with_its_workers",
    ),
    Mistake(
        "a pod set sees what the one before it took, and no other",
        "definition/placement/placer.py",
        "self.taken += held(given.flavor, given.pod_set, placed)",
        "self.taken = list(held(given.flavor, given.pod_set, placed))",
        "definition/placement/test_placer.py::test_pod_sets_stand_beside_one_another",
    ),
    Mistake(
        "pod sets of one workload take the same node under two flavors",
        "definition/placement/placer.py",
        "if each.place == place and self.places.see_the_same(flavor, each.flavor):",
        "if each.place == place and flavor == each.flavor:",
        "definition/placement/test_placer.py::test_flavors_over_the_same_nodes",
    ),
    Mistake(
        "what is used of a node is not used of it under another flavor",
        "definition/placement/places.py",
        "for flavor in self._sharing(each.flavor) if everywhere else (each.flavor,):",
        "for flavor in (each.flavor,):",
        "definition/placement/test_places.py::test_flavors_of_nodes_see_the_same",
    ),
    Mistake(
        "each pod set of a workload finds the same room on its node",
        "definition/placement/places.py",
        "others = [*wanted[:number], *wanted[number + 1 :]]",
        "others = list[PodsHeld]()",
        "definition/placement/test_places.py::test_room_for_all_of_them_together",
    ),
    Mistake(
        "what a flavor tolerates is not tolerated on its nodes",
        "definition/placement/places.py",
        "[*pod_set.tolerations, *self.graph.flavors[flavor].tolerations]",
        "[*pod_set.tolerations]",
        "definition/placement/test_places.py::test_only_nodes_keep_pods_off",
    ),
    Mistake(
        "whoever is taken out on trial leaves its place under every flavor",
        "definition/state/trial.py",
        "self.places.remove(self.places.holdings(workload), self._everywhere)",
        "self.places.remove(self.places.holdings(workload))",
        "definition/state/test_trial.py::test_who_is_taken_out_uses_nothing",
    ),
    Mistake(
        "places are looked for as things stand where nobody can go",
        "definition/admission/place_pods.py",
        "find_places(places, wanted, empty=not victims_gone)",
        "find_places(places, wanted)",
        "definition/admission/test_place_pods.py::test_equals_do_not_go",
    ),
    Mistake(
        "a workload that finds no places now is taken for one that never fits",
        "definition/admission/place_pods.py",
        "on_empty = find_places(places, wanted, empty=True)",
        "on_empty = find_places(places, wanted)",
        "definition/admission/test_place_pods.py::test_quota_is_there_in_pieces",
    ),
    Mistake(
        "places on empty nodes are given to who has victims",
        "definition/admission/place_pods.py",
        "give(assignment, find_places(places, wanted, empty=not victims_gone))",
        "give(assignment, find_places(places, wanted, empty=True))",
        "definition/admission/test_place_pods.py::test_quota_is_there_in_pieces",
    ),
    Mistake(
        "victims are enough once quota is",
        "definition/preemption/rules.py",
        "trial.tree.fits(self.workload.queue, self.request) and self.has_places(trial)",
        "trial.tree.fits(self.workload.queue, self.request)",
        "definition/admission/test_place_pods.py::test_victims_make_room_on_one_node",
    ),
    Mistake(
        "two heads are admitted to a node under two flavors",
        "definition/admission/cycle.py",
        "(flavors.mode is Mode.FIT and not self._has_room(nomination))",
        "False",
        "definition/admission/test_cycle_over_places.py::test_two_flavors_over_one_node",
    ),
    Mistake(
        "whose place is taken within a cycle finds no other one",
        "definition/admission/cycle.py",
        'elif self._fits(nomination) == "no places":',
        "elif False:",
        "definition/admission/test_cycle_over_places.py::test_placed_anew",
    ),
    Mistake(
        "pods are placed on a node that is cordoned",
        "nodes/domains.py",
        "return not machine.cordoned and all(",
        "return all(",
        "nodes/test_domains.py::test_who_takes_no_part",
    ),
    Mistake(
        "a taint that is tolerated hides the next one",
        "eligibility.py",
        "            return taint\n    return None",
        "            return taint\n        return None\n    return None",
        "nodes/test_kept_off.py::test_taints",
    ),
)


def seed(mistake: Mistake | None, laws: bool) -> Failures:
    """Run the tests of the core, and maybe the laws, on a copy with the mistake, or with none.

    A mistake in the core over arrays is for the tests that compare it with the definition, and a mistake in the definition for all others.
    The laws are also asked where the test that is there for a mistake in the definition does not catch it.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "gpol"
        for room in ROOMS:
            shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        for beside in ("tests", "examples"):
            shutil.copytree(ROOT / beside, Path(folder) / beside, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        with (Path(folder) / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
            conftest.write(FOR_THE_COPY)
        if mistake is not None:
            put_wrong(copy / "engine" / mistake.module, mistake)
        in_tables = mistake is not None and mistake.in_tables
        found = Failures([], frozenset())
        if not in_tables:
            found = run_tests(folder, CASES, f"--ignore={TABLES}")
        if in_tables or mistake is None:
            found = found.and_also(run_tests(folder, TABLES))
        missed = mistake is not None and not found.by(mistake)
        if not in_tables and (missed or laws):  # the laws know the definition only
            found = found.and_also(run_tests(folder, LAWS))
    return found


def put_wrong(path: Path, mistake: Mistake) -> None:
    """Write the mistake into a copied module; end the program where the right text is not there exactly once."""
    text = path.read_text(encoding="utf-8")
    count = text.count(mistake.right)
    if count != 1:
        raise SystemExit(f"{mistake.module} has `{mistake.right}` {count} times, not once; bring the script up to date")
    path.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")


def run_tests(folder: str, *tests: str) -> Failures:
    """Run the tests in the folder against the copy there."""
    environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "1000"}
    check = "import gpol.engine.definition.core as core; print(core.__file__)"
    where = subprocess.run([sys.executable, "-c", check], cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
    if not where.startswith(folder):
        raise SystemExit(f"the copy is not what is tested, but {where.strip()}")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", *tests]
    output = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout
    failed = re.findall(r"^(?:FAILED|ERROR) tests/([^\s\[]+)(.*)", output, re.MULTILINE)
    return Failures(list(dict.fromkeys(test for test, _ in failed)), frozenset(test for test, why in failed if NOT_ENDING in why))


def row(number: int, mistake: Mistake, found: Failures, laws: bool) -> str:
    """The line of the table for a mistake: the test that is there to catch it, how many others of the core do, and the laws if asked."""
    caught = found.by(mistake)
    made_for_it = f"{'' if caught else '**not** '}`{mistake.test}`"
    others = sum(test.startswith("engine/") for test in found.tests) - (f"engine/{mistake.test}" in found.tests)
    line = f"| {number} | {mistake.what} | `{mistake.module}` | {made_for_it} | {others} |"
    if caught and not laws:
        return line
    broken = ", ".join(f"`{test.rpartition('::')[2]}`" for test in found.tests if not test.startswith("engine/"))
    return f"{line} {broken or 'none'} |"


def main() -> int:
    """Seed all mistakes, or those with the given numbers; print a line of the table for each."""
    parser = argparse.ArgumentParser(description="Seed mistakes into a copy of the core and show which tests catch each.")
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="a mistake by its number in docs/testing.md; all without")
    parser.add_argument("--laws", action="store_true", help="ask the laws as well, where the test for a mistake catches it already")
    asked = parser.parse_args()
    for number in asked.numbers:
        if not 1 <= number <= len(MISTAKES):
            parser.error(f"there is no mistake {number}; the last is {len(MISTAKES)}")
    broken = seed(None, asked.laws).tests
    if broken:
        raise SystemExit(f"without any mistake these tests fail already: {', '.join(broken)}")
    missed = 0
    for number in asked.numbers or range(1, len(MISTAKES) + 1):
        mistake = MISTAKES[number - 1]
        found = seed(mistake, asked.laws)
        missed += not found.by(mistake)
        print(row(number, mistake, found, asked.laws), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
