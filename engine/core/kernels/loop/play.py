"""Facts in a row over tables: those of a closed loop, or given ones. What was played stands in `past`, an event a row, and on the tape.

In a closed loop jobs are submitted, run for their length and end; evicted jobs run again (`sim/drive/driver.py` defines it). Ends
come before wakes, and wakes before submissions; but those that would only wait come before the ends. In cycles submissions come before
wakes, and all ends first.
"""

from ... import columns as c
from ...tables import Tables
from ..cycle import begin_cycle, next_cycle, run_cycle
from ..nominate import nominate, runs
from ..places import count_fact, end, enter, forget_who_gave_way, give_row_back, row_of, take_row
from ..settle import lacks_room_to_decide, settle
from .ends import next_end, pop_end, push_end
from .past import note_cycle, note_event, note_settled


def play(t: Tables, most: int) -> int:
    """Play facts until there are so many events; return why it stops.

    In a closed loop `WAKE` must be the next wake where the policy decides at once.
    """
    while True:
        if t.state[c.STAGE] == c.CHOOSING:
            if t.state[c.PAST_END] >= most:
                return c.ENOUGH
            if not has_room(t):
                return c.MORE_ROOM
            found = play_given_fact(t) if t.state[c.IS_GIVEN] else play_next_fact(t)
            if found != c.ENOUGH:
                return found
            t.state[c.STAGE] = c.DECIDING
        if not t.state[c.IN_CYCLES]:
            if settle(t, 0) == c.MORE:
                return c.MORE_ROOM
        elif t.past[t.state[c.LAST_FACT], c.E_KIND] == c.ADVANCING and run_cycle(t) == c.MORE:
            return c.MORE_ROOM
        t.state[c.STAGE] = c.CHOOSING
        found = note_decisions(t)
        if found != c.ENOUGH:
            return found


def has_room(t: Tables) -> bool:
    """Whether there is room for one more fact and all that may follow from it."""
    rows = len(t.work)
    return t.state[c.FREE_ROW] != c.NONE and len(t.past) - t.state[c.PAST_END] > 4 * rows + 4 and len(t.ends) - t.state[c.ENDS] > rows


# --- facts ----------------------------------------------------------------------------------------------------------------


def play_next_fact(t: Tables) -> int:
    """Take in the fact that comes next; return ENOUGH, or why none is taken in."""
    t.state[c.FIRST_BLOCK] = t.state[c.LAST_BLOCK] = c.NONE
    job, ends = t.state[c.NEXT_JOB], next_end(t)
    arrives = t.job[job, c.J_TIME] if job < len(t.job) else c.NONE
    wake = next_cycle(t) if t.state[c.IN_CYCLES] else t.state[c.WAKE]
    if ends != c.NONE and ends == arrives and (wake == c.NONE or wake > arrives) and not t.state[c.IN_CYCLES]:
        if lacks_room_to_decide(t):
            return c.MORE_ROOM
        if only_waits(t, job):
            submit(t, job)
            t.state[c.NEXT_JOB] = job + 1
            return c.ENOUGH
    if ends != c.NONE and (arrives == c.NONE or ends <= arrives) and (wake == c.NONE or ends <= wake):
        finish_first(t)
        return c.ENOUGH
    if wake != c.NONE and (arrives == c.NONE or wake < arrives or (wake == arrives and not t.state[c.IN_CYCLES])):
        if wake > c.MOST_TIME or (wake > t.state[c.HORIZON] and arrives == c.NONE and ends == c.NONE):
            return c.GIVE_UP
        note_fact(t, c.ADVANCING, wake, c.NONE)
        begin_cycle(t)
        return c.ENOUGH
    if arrives == c.NONE:
        return c.OVER
    if arrives < t.state[c.TIME] or not may_come(t, job):
        return c.GIVE_UP
    submit(t, job)
    t.state[c.NEXT_JOB] = job + 1
    return c.ENOUGH


def play_given_fact(t: Tables) -> int:
    """Take in the given fact that comes next, or a wake before it; return ENOUGH, or why neither is. `NEXT_JOB` counts given facts.

    With `PLAYS_WAKES` time alone decides between them, as long as they stay possible. Where that evicts again and again, it is for the
    definition of a livelock to judge (`sim/drive/player.py`).
    """
    t.state[c.FIRST_BLOCK] = t.state[c.LAST_BLOCK] = c.NONE
    at = t.state[c.NEXT_JOB]
    if at == len(t.given):
        return c.OVER
    kind, moment, job = t.given[at, c.GIVEN_KIND], t.given[at, c.GIVEN_TIME], t.given[at, c.GIVEN_JOB]
    if moment < t.state[c.TIME] or not is_possible(t, kind, job):
        return c.GIVE_UP
    wake = wake_before(t, moment) if t.state[c.PLAYS_WAKES] else c.NONE
    if wake != c.NONE and (wake > c.MOST_TIME or t.state[c.EVICTING_WAKES] > c.MOST_TURNS):
        return c.GIVE_UP
    if wake != c.NONE or kind == c.ADVANCING:
        note_fact(t, c.ADVANCING, moment if wake == c.NONE else wake, c.NONE)
        begin_cycle(t)
    elif kind == c.SUBMITTING:
        submit(t, job)
    else:
        end_job(t, job, moment)
    if wake == c.NONE:
        t.state[c.NEXT_JOB] = at + 1
    return c.ENOUGH


def is_possible(t: Tables, kind: int, job: int) -> bool:
    """Whether a given fact can happen now, as far as that is for the kernel."""
    if kind == c.ADVANCING:
        return True
    if kind == c.SUBMITTING:
        return may_come(t, job)
    row = row_of(t, t.job[job, c.J_NAME])
    return row != c.NONE and (kind != c.FINISHING or t.when[row, c.ADMITTED] != c.NONE)


def may_come(t: Tables, job: int) -> bool:
    """Whether a job can be submitted now, as far as that is for the kernel: tables are wide enough for what all who are live ask for."""
    if t.job[job, c.J_REFUSED] or row_of(t, t.job[job, c.J_NAME]) != c.NONE:
        return False
    return t.state[c.ASKED_IN_ALL] + t.spec[t.job[job, c.J_SPEC] + c.S_MOST] <= t.state[c.MOST_IN_ALL]


def wake_before(t: Tables, moment: int) -> int:
    """The next wake that comes before a fact of a moment, or NONE: in cycles all facts of a moment come before its wake."""
    wake = next_cycle(t) if t.state[c.IN_CYCLES] else t.state[c.WAKE]
    return c.NONE if wake == c.NONE or wake >= moment + (1 - t.state[c.IN_CYCLES]) else wake


def note_fact(t: Tables, kind: int, moment: int, job: int) -> None:
    """Note that there was a fact, and which."""
    outside = int(kind != c.ADVANCING)
    count_fact(t, moment, outside)
    if outside:
        t.state[c.LAST_OUTSIDE] = t.state[c.SEQ]
    t.state[c.LAST_FACT] = note_event(t, kind, job, c.NONE, c.NONE)


def finish_first(t: Tables) -> None:
    """Let the job end that ends first."""
    moment, job = t.ends[0, c.END_TIME], t.ends[0, c.END_JOB]
    pop_end(t)
    t.job[job, c.J_ADMISSION] = c.NONE
    end_job(t, job, max(moment, t.state[c.TIME]))


def end_job(t: Tables, job: int, moment: int) -> None:
    """Let a job end."""
    end(t, row_of(t, t.job[job, c.J_NAME]))
    forget_who_gave_way(t)
    note_fact(t, c.FINISHING, moment, job)


def only_waits(t: Tables, job: int) -> bool:
    """Whether a job that is submitted would only wait, were it the next. There has to be a free row, and room for one nomination.

    It is nominated in a row of its own that has no places: it stands in no line, its name does not lead to it, and nothing is stirred or
    counted. So what remains of the question is what every nomination writes, and the next one writes again: the queue's row of `nom` with
    its requests, flavors and victims, the tape beyond `TAPE_END`, and who is marked (`MARKED`), which only says which nomination was last.
    """
    moment = t.job[job, c.J_TIME]
    if t.job[job, c.J_REFUSED] or t.job[job, c.J_REJECTED] or moment < t.state[c.TIME] or row_of(t, t.job[job, c.J_NAME]) != c.NONE:
        return False
    if t.job[job, c.J_QUEUE] == c.NONE or t.job[job, c.J_HELD]:
        return True
    before, cause = t.state[c.TIME], t.state[c.CAUSE]
    t.state[c.TIME], t.state[c.CAUSE] = moment, t.state[c.SEQ] + 1  # as if the fact had come
    row = row_of_job(t, job)
    nom = t.node[t.work[row, c.QUEUE], c.QUEUE_INDEX]
    nominate(t, row, nom, c.NONE, c.NONE)
    give_row_back(t, row)
    t.state[c.TIME], t.state[c.CAUSE] = before, cause
    return not runs(t, nom)


def submit(t: Tables, job: int) -> None:
    """Submit a job."""
    row = take_in(t, job)
    note_fact(t, c.SUBMITTING, t.job[job, c.J_TIME], job)
    if t.job[job, c.J_REJECTED]:
        end(t, row)
        t.state[c.SEQ] += 1
        t.state[c.IDLE] = 0
        note_event(t, c.REJECTING, job, t.job[job, c.J_QUEUE], c.NONE)


def take_in(t: Tables, job: int) -> int:
    """Give a job that is submitted a row and its places; return the row."""
    row = row_of_job(t, job)
    t.state[c.SUBMISSIONS] += 1
    t.name[t.job[job, c.J_NAME], c.ROW], t.name[t.job[job, c.J_NAME], c.JOB] = row, job
    enter(t, row)
    return row


def row_of_job(t: Tables, job: int) -> int:
    """Write all that is known of a job that is submitted next into a free row; return the row."""
    row = take_row(t)
    t.when[row, c.NUMBER], t.work[row, c.NAME] = t.state[c.SUBMISSIONS] + 1, t.job[job, c.J_NAME]
    t.work[row, c.SPEC], t.work[row, c.SHAPE], t.work[row, c.QUEUE] = t.job[job, c.J_SPEC], t.job[job, c.J_SHAPE], t.job[job, c.J_QUEUE]
    t.when[row, c.PRIORITY], t.work[row, c.PINNED] = t.job[job, c.J_PRIORITY], t.job[job, c.J_PINNED]
    t.when[row, c.SUBMITTED] = t.when[row, c.QUEUED] = t.when[row, c.ENTERED] = t.job[job, c.J_SUBMITTED]
    t.work[row, c.UID], t.work[row, c.LOCAL_QUEUE] = t.job[job, c.J_UID], t.job[job, c.J_LOCAL_QUEUE]
    t.work[row, c.REPLACES], t.work[row, c.HELD] = t.job[job, c.J_REPLACES], t.job[job, c.J_HELD]
    t.work[row, c.TURNED_AWAY] = t.job[job, c.J_TURNED_AWAY]
    t.state[c.ASKED_IN_ALL] += t.spec[t.work[row, c.SPEC] + c.S_MOST]
    return row


# --- what follows -----------------------------------------------------------------------------------------------------------


def note_decisions(t: Tables) -> int:
    """Note what was decided, and what that starts, stops and ends; return ENOUGH, or why the loop cannot go on."""
    begin = t.state[c.PAST_END]
    t.past[t.state[c.LAST_FACT], c.E_BLOCK] = t.state[c.FIRST_BLOCK]
    if t.state[c.IN_CYCLES]:
        note_cycle(t)
    else:
        note_settled(t)
    found = c.ENOUGH
    if t.state[c.IS_GIVEN]:
        note_evicting_wake(t, begin)
        return found
    for at in range(begin, t.state[c.PAST_END]):
        kind, job = t.past[at, c.E_KIND], t.past[at, c.E_JOB]
        if kind == c.ADMITTING:
            ends = start_job(t, job)
            if ends > c.LAST_MOMENT and found != c.TOO_LATE:
                found, t.state[c.LATE] = c.TOO_LATE, job
        elif kind == c.EVICTING_ONE:
            if stop_job(t, job) and found == c.ENOUGH:
                found = c.GIVE_UP
        elif kind == c.REPLACING:
            t.job[job, c.J_ADMISSION] = c.NONE
    return found


def note_evicting_wake(t: Tables, begin: int) -> None:
    """Count the moments since the last other fact at which time alone evicted somebody; the events of this one begin there."""
    if t.past[t.state[c.LAST_FACT], c.E_KIND] != c.ADVANCING:
        t.state[c.EVICTING_WAKES] = 0
        return
    for at in range(begin, t.state[c.PAST_END]):
        if t.past[at, c.E_KIND] == c.EVICTING_ONE:
            t.state[c.EVICTING_WAKES] += 1
            return


def start_job(t: Tables, job: int) -> int:
    """Let a job run from now; return when it ends, or NONE where nobody knows it."""
    t.state[c.ADMISSIONS] += 1
    t.job[job, c.J_STARTED], t.job[job, c.J_ADMISSION] = t.state[c.TIME], t.state[c.ADMISSIONS]
    if t.job[job, c.J_LENGTH] == c.NONE:
        return c.NONE
    ends = t.state[c.TIME] + t.job[job, c.J_LENGTH]
    push_end(t, ends, t.state[c.ADMISSIONS], job)
    return ends


def stop_job(t: Tables, job: int) -> bool:
    """Let a job run no longer; say whether time alone has evicted it too often by now."""
    if t.state[c.RESUMES] and t.job[job, c.J_LENGTH] != c.NONE:
        t.job[job, c.J_LENGTH] -= t.state[c.TIME] - t.job[job, c.J_STARTED]
    t.job[job, c.J_ADMISSION] = c.NONE
    if t.job[job, c.J_TURNS_SINCE] != t.state[c.LAST_OUTSIDE]:
        t.job[job, c.J_TURNS_SINCE], t.job[job, c.J_TURNS] = t.state[c.LAST_OUTSIDE], 0
    if t.past[t.state[c.LAST_FACT], c.E_KIND] == c.ADVANCING:
        t.job[job, c.J_TURNS] += 1
    return t.job[job, c.J_TURNS] > c.MOST_TURNS
