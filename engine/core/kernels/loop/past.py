"""What was played, event by event, in the order in which a journal has them: facts, and behind each what was decided because of it."""

from ... import columns as c
from ...tables import Tables


def note_event(t: Tables, kind: int, job: int, queue: int, block: int) -> int:
    """Note an event of the present moment: of which job and queue, and where the tape tells of it; return its row."""
    at = t.state[c.PAST_END]
    t.state[c.PAST_END] = at + 1
    t.past[at, c.E_KIND], t.past[at, c.E_TIME], t.past[at, c.E_JOB], t.past[at, c.E_QUEUE] = kind, t.state[c.TIME], job, queue
    t.past[at, c.E_CHARGES], t.past[at, c.E_CHARGED], t.past[at, c.E_BLOCK] = 0, 0, block
    return at


def note_settled(t: Tables) -> None:
    """Note what settling decided: of each admission its victims, whom it replaces, then itself."""
    block = t.state[c.FIRST_BLOCK]
    while block != c.NONE:
        note_victims(t, block)
        note_admission(t, block)
        block = t.tape[block + c.B_FOLLOWING]


def note_admission(t: Tables, block: int) -> None:
    """Note an admission, and before it the end of the one whose place it takes."""
    if t.tape[block + c.B_REPLACED] != c.NONE:
        replaced = t.tape[block + c.B_REPLACED]
        note_event(t, c.REPLACING, t.name[replaced, c.JOB], t.tape[block + c.B_REPLACED_QUEUE], block)
    at = note_event(t, c.ADMITTING, t.name[t.tape[block + c.B_NAME], c.JOB], t.tape[block + c.B_QUEUE], block)
    t.past[at, c.E_CHARGES], t.past[at, c.E_CHARGED] = t.tape[block + c.B_REQUEST], t.tape[block + c.B_REQUESTED]


def note_victims(t: Tables, block: int) -> None:
    """Note the evictions of a block, but for those who were told to stop before."""
    at = t.tape[block + c.B_VICTIMS]
    for _ in range(t.tape[block + c.B_EVICTED]):
        if not t.tape[at + 5]:
            event = note_event(t, c.EVICTING_ONE, t.name[t.tape[at], c.JOB], t.tape[at + 1], block)
            t.past[event, c.E_CHARGES] = at
        at += 7 + 3 * t.tape[at + 6]
        at += 6 + 2 * t.tape[at + 5]


def note_cycle(t: Tables) -> None:
    """Note what a cycle decided: admissions, then what waits, then evictions by name."""
    block = t.state[c.FIRST_BLOCK]
    while block != c.NONE:
        if t.tape[block + c.B_ENDED] == c.ADMITTED_NOW:
            note_admission(t, block)
        block = t.tape[block + c.B_FOLLOWING]
    block = t.state[c.FIRST_BLOCK]
    while block != c.NONE:
        if t.tape[block + c.B_ENDED] != c.ADMITTED_NOW and t.tape[block + c.B_TOLD]:
            note_event(t, c.DEFERRING, t.name[t.tape[block + c.B_NAME], c.JOB], t.tape[block + c.B_QUEUE], block)
        block = t.tape[block + c.B_FOLLOWING]
    begin, block = t.state[c.PAST_END], t.state[c.FIRST_BLOCK]
    while block != c.NONE:
        if t.tape[block + c.B_ENDED] == c.ENDS_PREEMPTING:
            note_victims(t, block)
        block = t.tape[block + c.B_FOLLOWING]
    for at in range(begin + 1, t.state[c.PAST_END]):
        put_in_place(t, begin, at)


def put_in_place(t: Tables, begin: int, at: int) -> None:
    """Move an event among those before it, which stand in the order of their names."""
    while at > begin and t.job[t.past[at, c.E_JOB], c.J_RANK] < t.job[t.past[at - 1, c.E_JOB], c.J_RANK]:
        for column in range(c.EVENT_WIDTH):
            t.past[at, column], t.past[at - 1, column] = t.past[at - 1, column], t.past[at, column]
        at -= 1
