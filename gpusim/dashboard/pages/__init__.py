"""The pages beside the timelines: accuracy, devices, and the ladder of techniques."""
