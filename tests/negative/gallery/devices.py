"""Devices and their quantities."""

from __future__ import annotations

from tests.negative.gallery.good import wrong

DEVICES: dict[str, tuple[str | bytes, list[str]]] = {
    "unknown device": (
        wrong("device: textbook", "device: txtbook"),
        ["scenario.yaml:2:1", "device", "unknown device 'txtbook'", "allowed:", "Did you mean 'textbook'"],
    ),
    "unknown quantity of a device": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clck: 1 GHz}}"),
        ["scenario.yaml:2:", "device.set.sm.clck", "sm.clock"],
    ),
    "quantity in another dimension": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clock: 1 GB/s}}"),
        ["device.set.sm.clock", "1 GB/s"],
    ),
    "quantity of nothing": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.count: 0}}"),
        ["scenario.yaml:2:", "device.set.sm.count", "0 must be a whole number, at least 1"],
    ),
    "quantity in a mapping of its own": (
        wrong("device: textbook", "device: {base: textbook, set: {hbm: {read_bandwidth: 8 TB/s}}}"),
        ["scenario.yaml:2:", "device.set.hbm: is a mapping", "one key with its dots, as hbm.read_bandwidth: 8 TB/s"],
    ),
    "list for a quantity": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clock: [1, 2]}}"),
        ["scenario.yaml:2:", "device.set.sm.clock: expected a number with its unit, as 8 TB/s, got [1, 2]"],
    ),
    "NaN for a quantity": (
        wrong("device: textbook", "device: {base: textbook, set: {sm.clock: .nan}}"),
        ["scenario.yaml:2:", "device.set.sm.clock", "nan is not a finite number"],
    ),
    "profile that is not there": (
        wrong("device: textbook", "device: mine.yaml"),
        ["scenario.yaml:2:1", "device mine.yaml: no such file beside the scenario (", ") or in the current folder"],
    ),
}
