"""Plain-Python twins of the native kernels: the specification, and what the property tests compare with."""
