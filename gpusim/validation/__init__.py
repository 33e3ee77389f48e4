"""Recordings of real GPUs, comparisons with predictions, and the accuracy report."""

from gpusim.lazy import lazy_exports

_HOME = {
    "Accuracy": "gpusim.validation.report",
    "Band": "gpusim.validation.band",
    "Comparison": "gpusim.validation.comparison",
    "DEFAULT_BAND": "gpusim.validation.band",
    "Measurement": "gpusim.validation.cases",
    "MetricError": "gpusim.validation.comparison",
    "RecordedCase": "gpusim.validation.report",
    "accuracy": "gpusim.validation.report",
    "all_cases": "gpusim.validation.cases",
    "compare": "gpusim.validation.cases",
    "compare_own": "gpusim.validation.cases",
    "compare_timelines": "gpusim.validation.comparison",
    "compare_with": "gpusim.validation.cases",
    "kept_cases": "gpusim.validation.predicted_file",
    "measurement_of": "gpusim.validation.cases",
    "measurements": "gpusim.validation.cases",
    "recordings_stamp": "gpusim.validation.cases",
    "read_measured": "gpusim.validation.measured_file",
    "read_timeline": "gpusim.validation.measured_file",
    "steps_told": "gpusim.validation.recorded_steps",
    "write_predicted": "gpusim.validation.predicted_file",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_exports(__name__, _HOME)
