"""Claims by release: what came, what went, and what nobody has established."""

from __future__ import annotations

import pytest

from attnmatrix.codegen.history import Event, history


def test_gains_and_losses_in_the_order_of_releases():
    events = history(
        [
            ({"lib": ">=0.30,<0.33"}, "footer"),
            ({"lib": ">=0.9"}, "plain"),
            ({"lib": ">=0.33"}, "inline"),
        ]
    )
    assert events == [
        Event("lib", "0.9", "gains", ("plain",)),
        Event("lib", "0.30", "gains", ("footer",)),
        Event("lib", "0.33", "gains", ("inline",)),
        Event("lib", "0.33", "loses", ("footer",)),
    ]


def test_a_claim_that_another_row_goes_on_with_neither_comes_nor_goes():
    events = history([({"lib": ">=1,<2"}, "a"), ({"lib": ">=2"}, "a")])
    assert events == [Event("lib", "1", "gains", ("a",))]


def test_a_row_of_its_own_may_bring_a_claim_back():
    events = history([({"lib": ">=1,<2"}, "a"), ({"lib": ">=3"}, "a")])
    assert [(event.when, event.change) for event in events] == [
        ("1", "gains"),
        ("2", "loses"),
        ("3", "gains"),
    ]


@pytest.mark.parametrize(
    ("specifier", "when", "change"),
    [
        ("any", "every version", "has"),
        ("unknown", "version not established", "has"),
        ("==1.2", "==1.2", "has"),
        ("~=1.4", "~=1.4", "has"),
        (">=1,!=1.3", ">=1,!=1.3", "has"),
    ],
)
def test_what_is_no_range_is_shown_as_it_stands(specifier, when, change):
    assert history([({"lib": specifier}, "a")]) == [Event("lib", when, change, ("a",))]


def test_a_distribution_without_the_claim_has_no_event():
    assert history([({"lib": "none", "other": ">=1"}, "a")]) == [
        Event("other", "1", "gains", ("a",))
    ]


def test_an_upper_bound_alone_begins_with_every_version():
    events = history([({"lib": "<2"}, "a")])
    assert [(event.when, event.change) for event in events] == [
        ("every version", "has"),
        ("2", "loses"),
    ]


def test_distributions_stay_together():
    events = history([({"a": ">=2", "b": ">=1"}, "x"), ({"a": ">=1", "b": ">=3"}, "y")])
    assert [event.distribution for event in events] == ["a", "a", "b", "b"]
