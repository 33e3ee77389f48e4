"""What-ifs: scenario files, techniques, predictions and sweeps."""

from gpusim.lazy import lazy_exports

_HOME = {
    "Advice": "gpusim.scenario.levers.advice",
    "Answer": "gpusim.scenario.answers",
    "Scenario": "gpusim.scenario.scenario",
    "SweepPoint": "gpusim.scenario.sweeps.sweeping",
    "SweepResult": "gpusim.scenario.sweeps.sweeping",
    "Technique": "gpusim.scenario.technique",
    "advise": "gpusim.scenario.levers.advice",
    "answer": "gpusim.scenario.answers",
    "from_data": "gpusim.scenario.loader",
    "load": "gpusim.scenario.loader",
    "loads": "gpusim.scenario.loader",
    "predict": "gpusim.scenario.prediction",
    "predict_params": "gpusim.scenario.prediction",
    "scenario_files": "gpusim.scenario.loader",
    "serial_baseline": "gpusim.scenario.prediction",
    "sweep": "gpusim.scenario.sweeps.sweeping",
    "techniques": "gpusim.scenario.technique",
    "with_overrides": "gpusim.scenario.loader",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_exports(__name__, _HOME)
