"""The way of bytes: what an access touches, L1 and the load-store unit of an SM, L2 and HBM."""
