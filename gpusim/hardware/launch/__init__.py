"""A launch: which SMs get which CTAs, one run or several, the timeline that comes of it."""
