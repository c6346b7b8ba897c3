"""What shingles are made of, as the kernels number it."""

UNITS = {"word": 0, "char": 1}
