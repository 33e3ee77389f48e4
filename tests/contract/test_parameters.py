"""What every technique says of its parameters."""

import dataclasses
from collections import defaultdict

from gpusim.scenario import techniques
from gpusim.scenario.kinds import Kind


def test_parameters_of_one_name_are_of_one_kind():
    """Whoever leaves out the kind of a parameter that others have would go without advice on it."""
    kinds = defaultdict(set)
    for technique in techniques().values():
        for field in dataclasses.fields(technique.params):
            kinds[field.name].add(field.metadata.get("kind"))
    # What has a share of each batch is all there is where there are no batches.
    assert {name: found for name, found in kinds.items() if len(found - {None, Kind.SHARE}) and len(found) > 1} == {}


def test_every_kind_is_found_in_a_technique():
    """A kind that no parameter is of would be dead."""
    fields = [field for technique in techniques().values() for field in dataclasses.fields(technique.params)]
    assert {field.metadata.get("kind") for field in fields} >= set(Kind)
