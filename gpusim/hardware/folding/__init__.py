"""What is alike is simulated once: warps, SMs, turns of tiles, waves of CTAs."""
