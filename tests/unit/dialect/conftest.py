"""Property tests have no deadline: the first example of a test may build the parser."""

from hypothesis import settings

settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")
