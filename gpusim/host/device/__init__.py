"""The device's side: streams, engines, blocks on SMs, memory of pools."""
