"""How many devices are looked at one by one.

A mesh or a tiling of any size is a value; what takes memory for each device has a limit, far
beyond any machine.
"""

from __future__ import annotations

from typing import Final

from sdy.dialect.errors import VerifyError

__all__ = ["MOST_LISTED", "check_listed"]

MOST_LISTED: Final = 2**24


def check_listed(count: int, what: str) -> None:
    """Raise `VerifyError` where something is of more devices than are listed."""
    if count > MOST_LISTED:
        raise VerifyError(
            f"{what} of {count} devices is too large to list them: the limit is {MOST_LISTED}"
        )
