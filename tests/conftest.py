"""What all tests share."""

from hypothesis import settings

# Time limits per example only measure how busy the machine is.
settings.register_profile("dejalu", deadline=None, print_blob=True)
settings.load_profile("dejalu")
