"""The comparisons of flavors compare with the table, and with nothing that gpol has answered."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conform import SUITES
from suites.flavors import no_fit
from suites.suite import Suite


def cases(shared: Path, name: str) -> tuple[Suite, dict[str, Mapping[str, Any]]]:
    """A suite and its cases by name; skips where the reference data is absent."""
    folder = shared / "conformance"
    if not folder.is_dir():
        pytest.skip("needs the reference data in `shared/conformance`, beside the repository")
    suite = next(suite for suite in SUITES if suite.name == name)
    return suite, dict(suite.cases(folder))


def no_fit_but(case: Mapping[str, Any], **attempts: str) -> list[str]:
    """What differs where the table says this of flavors (`flavor_a` is flavor-a)."""
    changed = copy.deepcopy(dict(case))
    changed["tc"]["wantFlavorAttempts"] |= {flavor.replace("_", "-"): reason for flavor, reason in attempts.items()}
    return no_fit(changed)


def test_each_flavor_that_the_table_names_is_compared(shared: Path) -> None:
    """Another reason than gpol's differs, and so does a flavor that was not tried; both for a workload that does not fit."""
    case = cases(shared, "TestIsNoFitDueToCapacityAndLimits")[1]["insufficient quota"]

    assert no_fit(case) == []
    assert no_fit_but(case, flavor_a="WaitingForQuota") == ["flavor-a: Kueue WaitingForQuota, gpol ExceedsMaxQuota"]
    assert no_fit_but(case, flavor_z="ExceedsMaxQuota") == ["flavor-z: Kueue ExceedsMaxQuota, gpol not tried"]


def test_where_one_fits_the_rest_need_not_be_tried(shared: Path) -> None:
    """The search ends with the flavor that fits, so one after it is not compared; one before it is."""
    every = cases(shared, "TestIsNoFitDueToCapacityAndLimits")[1]

    assert no_fit_but(every["succeeds to schedule on flavor-a"], flavor_b="WaitingForQuota") == []
    told = no_fit_but(every["succeeds to schedule on flavor-b with a tolerated taint"], flavor_a="WaitingForQuota")
    assert told == ["flavor-a: Kueue WaitingForQuota, gpol NoMatchingFlavor"]


def test_another_attempt_than_the_tables_differs(shared: Path) -> None:
    """Every attempt of TestAssignFlavors that Kueue's test compares is compared: with another mode in the table, the case differs."""
    suite, every = cases(shared, "TestAssignFlavors")
    case = copy.deepcopy(dict(every["single flavor, used resources, doesn't fit"]))
    assert suite.compare(case) == []

    case["tc"]["wantAssignment"]["PodSets"][0]["FlavorAssignmentAttempts"][0]["Mode"] = "NoFit"

    [told] = suite.compare(case)
    assert told.startswith("pod set main: default: Kueue ('NoFit', ")
