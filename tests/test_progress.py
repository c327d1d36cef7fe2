"""Progress of a part is progress of the whole."""

from __future__ import annotations

from pnsight._progress import subtask


def test_equal_parts_one_after_the_other_go_from_nothing_to_all():
    told = []
    for k, name in enumerate(("choosing", "fitting")):
        report = subtask(lambda *news: told.append(news), k, 2, name)
        report(0, 5, "")
        report(5, 5, "loss 0.1")
    assert told == [
        (0, 10, "choosing"),
        (5, 10, "choosing: loss 0.1"),
        (5, 10, "fitting"),
        (10, 10, "fitting: loss 0.1"),
    ]
