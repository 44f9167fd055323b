"""Two hundred tests, each with a server and a clock of its own that stands still."""

from __future__ import annotations

import pytest

from tailrace import Space, TestDouble


@pytest.mark.tailrace(clock="frozen:1000000")
@pytest.mark.parametrize("place", range(200))
def test_nobody_else_is_here(tailrace: Space, td: TestDouble, place: int) -> None:
    connection = tailrace.connect()
    assert connection.execute("DBSIZE") == 0
    now = td.advance(place)
    assert connection.execute("XADD", "s", "*", "of", place) == f"{now}-0".encode()
    assert len(td.calls()) == 2
    connection.close()
