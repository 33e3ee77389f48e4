"""Whatever a file says, it is a scenario or an error that a user can act on."""

import copy

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpusim.errors import GpusimError
from gpusim.scenario import Scenario, from_data, loads
from gpusim.scenario.kernel.op_schema import STEPS

TEXT = """\
question: q
device: {base: textbook, set: {sm.clock: 1 GHz}}
kernel:
  grid: 8
  tiles_per_cta: 12
  rings: {input: {stages: 3, bytes: 16 KiB}}
  barriers: {mine: {arrivals: 1}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: {ring: input, align: 16}}]}
    consumer:
      warps: 4
      every: 1
      offset: 0
      per_tile: [{wait: input}, {repeat: {times: 2, ops: [{compute: {ffma: 8, lds: 8}}]}}, {release: input}]
      epilogue: [sync_threads]
sweep: {kernel.grid: [1, 2]}
"""
DATA = yaml.safe_load(TEXT)

WORDS = st.sampled_from(
    [
        "",
        "input",
        "mine",
        "full",
        "16 KiB",
        "-1 B",
        "1e400",
        "nan",
        "textbook",
        "sync_tile",
        "\x00",
        "\u2028",
        "a.b",
        *STEPS,
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=8)
KEYS = WORDS | st.sampled_from(
    ["grid", "ring", "bytes", "technique", "params", "set", "base", "tile", "ahead", "kernel"]
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


def paths(data, prefix=()):
    """Every place in nested data."""
    yield prefix
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from paths(value, (*prefix, key))


def replaced(data, path, value):
    """A copy with another value at ``path``."""
    if not path:
        return value
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


def is_scenario_or_error(make) -> None:
    """The property: no other exception, ever, up to the built program."""
    try:
        scenario = make()
        assert isinstance(scenario, Scenario)
        program = scenario.program()
        for role in program.roles:
            list(role.body(2))
        scenario.profile()
        assert len(scenario.hash) == 16
    except GpusimError as error:
        assert str(error)  # noqa: PT017 - either outcome is right


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200))
def test_any_text(text):
    """From noise."""
    is_scenario_or_error(lambda: loads(text))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, len(TEXT)), st.integers(0, 12), st.text(alphabet="{}[]:,-&*!|>'\"%@`\n\t #?<~0ae. ", max_size=6))
def test_damaged_scenario(start, length, text):
    """A few characters cut out and others put in."""
    is_scenario_or_error(lambda: loads(TEXT[:start] + text + TEXT[start + length :]))


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(paths(DATA))), VALUES)
def test_any_value_anywhere(path, value):
    """Well-formed YAML that says something else at one place."""
    is_scenario_or_error(lambda: from_data(replaced(DATA, path, value)) if path else from_data({"kernel": value}))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from([".".join(map(str, path)) for path in paths(DATA) if path]) | st.text(max_size=12)), VALUES
)
def test_any_override(path, value):
    """Overrides at places that exist and at others."""
    is_scenario_or_error(lambda: loads(TEXT, overrides=dict.fromkeys(path, value)))
