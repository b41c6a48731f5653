"""Property tests draw the same examples in each run, and have no deadline: machines differ."""

from hypothesis import settings

settings.register_profile("sdy", deadline=None, derandomize=True)
settings.load_profile("sdy")
