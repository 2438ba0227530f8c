"""Tests for what the header says of the places of pods."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.dsl.analysis.digest import digest
from gpol.dsl.print.formatter import format_text
from gpol.engine.policy_settings import Settings

TEXT = """policy "p" {{
  use gpol.fair
  {choice}
}}

resource license

flavor h100 {{
  gpu, license from nodes where pool = "h"
  placed on nodes
}}

queue q {{ owns 8 gpu }}
"""


def settings(choice: str) -> Settings:
    """The settings of a policy that makes a choice."""
    return compile_policy(TEXT.format(choice=choice), "p.gpol").settings


@pytest.mark.parametrize(
    ("choice", "placing", "kept"),
    [
        ("queueing best effort", "", ()),
        ("place pods packed", "packed", ()),
        ("place pods spread", "spread", ()),
        ("place pods keeping room for 1 gpu", "keeping-room", ((("gpu", 1_000),),)),
        (
            "place pods keeping room for 8 gpu and 96 cpu, 500m gpu, 2 license and 1Gi memory and 1 cpu",
            "keeping-room",
            (
                (("cpu", 96_000), ("gpu", 8_000)),
                (("gpu", 500),),
                (("cpu", 1_000), ("license", 2), ("memory", 2**30)),
            ),
        ),
    ],
)
def test_how_pods_are_placed(choice, placing, kept):
    """The way, and the sizes in their order, each with its resources by name, in the smallest unit."""
    made = settings(choice)
    assert (made.placing, made.room_kept, made.lost_nodes) == (placing, kept, "")
    assert made.places_pods == (placing or "packed")


@pytest.mark.parametrize(("words", "deed"), [("replace pods", "replace"), ("evict", "evict"), ("wait", "wait")])
def test_what_becomes_of_lost_nodes(words, deed):
    """Each of the three, and nothing else beside it."""
    made = settings(f"when a node is lost {words}")
    assert (made.lost_nodes, made.placing, made.room_kept) == (deed, "", ())


@pytest.mark.parametrize("choice", ["place pods spread", "when a node is lost wait"])
def test_the_policy_has_precedence(choice):
    """A choice of the policy replaces the same one of its profile, and no other one."""
    profile = 'profile "t.p" {\n  place pods packed\n  when a node is lost evict\n}\n'
    made = compile_policy(TEXT.format(choice=choice).replace("gpol.fair", "t.p"), "p.gpol", {"t.p": profile}).settings
    assert (made.placing, made.lost_nodes) == (("spread", "evict") if "place" in choice else ("packed", "wait"))


@pytest.mark.parametrize(
    ("sizes", "code", "marked", "help_piece"),
    [
        ("8 gpus", "GP020", "gpus", "did you mean `gpu`?"),
        ("8 gpu, 4 gpu and 1 tokens", "GP020", "tokens", "`resource license`"),
        ("0 gpu", "GP023", "0", "above 0"),
        ("8 gpu and 0 cpu", "GP023", "0", "leave it out"),
        ("-1 gpu", "GP023", "-1", "write it as `8 gpu`"),
        ("1/3 license", "GP023", "1/3", "write it as"),
        ("8 gpu and 4 gpu", "GP022", "4 gpu", "keep one"),
        ("8 gpu and 1 cpu, 1 gpu, 1000m cpu and 8 gpu", "GP022", "1000m cpu and 8 gpu", "keep one"),
    ],
)
def test_each_mistake_in_a_size_is_found_alone(find, sizes, code, marked, help_piece):
    """A wrong size gives its own code on its own text, with advice."""
    findings = find(TEXT.format(choice=f"place pods keeping room for {sizes}"))
    assert [(finding.code, finding.marked) for finding in findings] == [(code, marked)]
    assert help_piece in findings[0].help


@pytest.mark.parametrize(
    ("choice", "piece"),
    [
        ("place pods densely", "`packed`"),
        ("place pods keeping room for", "a number"),
        ("place pods keeping room for 8", "write `8 gpu`"),
        ("place nodes", "`pods`"),
        ("when a node is gone evict", "`lost`"),
        ("when a node is lost replace", "`pods`"),
        ("when a node is lost restart", "`replace`"),
    ],
)
def test_what_may_follow_is_said(find, choice, piece):
    """Where the words break off, the message says what could stand there."""
    [finding] = find(TEXT.format(choice=choice))
    assert piece in finding.help + finding.message


@pytest.mark.parametrize(
    "choice",
    [
        "place pods packed",
        "place pods spread",
        "place pods keeping room for 8 gpu and 96 cpu, 1 gpu",
        "when a node is lost replace pods",
        "when a node is lost evict",
        "when a node is lost wait",
    ],
)
def test_the_formatter_keeps_the_words(choice):
    """Each choice is printed as it is written; spaces do not matter."""
    text = TEXT.format(choice=choice)
    assert format_text(text, "p.gpol") == text
    assert format_text(text.replace(choice, choice.replace(" ", "   ")), "p.gpol") == text


def test_names_that_are_words_of_these_choices_stay_bare():
    """They came late: queues called `a` and amounts of `pods` are written as ever."""
    text = 'policy "p" { }\n\nresource pods\n\nflavor spread { pods 8 }\n\nqueue a {\n  owns 4 pods\n  prefer spread\n}\n'
    assert format_text(text, "p.gpol") == text


def test_each_choice_has_a_digest_of_its_own():
    """So do the sizes, their order and their amounts, but not the order in which one size says its amounts."""
    said = ["packed", "spread", *(f"keeping room for {sizes}" for sizes in ("8 gpu, 1 gpu", "1 gpu, 8 gpu", "8 gpu", "8 gpu and 1 cpu"))]
    choices = ["", *(f"place pods {each}" for each in said), *(f"when a node is lost {each}" for each in ("replace pods", "evict", "wait"))]
    digests = [digest(compile_policy(TEXT.format(choice=choice), "p.gpol")) for choice in choices]
    assert len(set(digests)) == len(choices)
    turned = TEXT.format(choice="place pods keeping room for 1000m cpu and 8 gpu")
    assert digest(compile_policy(turned, "p.gpol")) == digests[choices.index("place pods keeping room for 8 gpu and 1 cpu")]
