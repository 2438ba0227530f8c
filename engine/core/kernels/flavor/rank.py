"""How good a flavor is: the ranks of Kueue's flavorassigner, over tables."""

from ... import columns as c
from ...tables import Tables


def better(t: Tables, queue: int, grade: int, level: int, than_grade: int, than_level: int) -> bool:
    """Whether a verdict is better than another one for a queue. What cannot be done now comes last, whatever the queue would rather do."""
    usable, than_usable = min(grade, c.PROTECTED), min(than_grade, c.PROTECTED)
    usable, than_usable = max(usable, c.MAY_NOT_EVICT), max(than_usable, c.MAY_NOT_EVICT)
    if usable != than_usable:
        return usable > than_usable
    if usable == c.MAY_NOT_EVICT:
        return False
    if t.node[queue, c.RATHER_EVICT]:
        return level < than_level or (level == than_level and grade > than_grade)
    return grade > than_grade or (grade == than_grade and level < than_level)


def good_enough(t: Tables, queue: int, grade: int, level: int) -> bool:
    """Whether no later flavor is looked at."""
    if grade < c.PREEMPT or (grade != c.FIT and t.node[queue, c.LOOKS_ON_EVICTING]):
        return False
    return not (level > 0 and t.node[queue, c.LOOKS_ON_BORROWING])
