"""Readers of workloads: what they read, and what they say about what they can't."""

from itertools import pairwise
from pathlib import Path

import pytest
from gpol.adapters.traces import read_jobs
from gpol.engine.event_parts import Slice
from gpol.sim.drive.job import InputError, Job

SECOND = 1_000_000
PHILLY = "timestamp,duration,num_gpus,gpu_time,cluster\n"
OURS = "workload,submitted,duration,queue,gpu\n"


def read(folder: Path, text: str | bytes, name: str = "jobs.csv", form: str | None = None) -> list[Job]:
    """The jobs of a text."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_jobs(path, form)


def test_a_row_of_the_trace_is_a_gang_of_single_gpus(tmp_path: Path) -> None:
    """A job of n GPUs has n pods of one GPU, in its virtual cluster's queue; times without zone are UTC, durations exact."""
    (job,) = read(tmp_path, PHILLY + "2017-10-09 07:01:55,66.5,4,266.0,11cb48\n", form="philly")
    assert job.duration == 66_500_000
    assert job.fact.time == 1_507_532_515 * SECOND
    assert (job.fact.workload, job.fact.queue) == ("philly-000001", "11cb48")
    assert [(pods.count, pods.requests) for pods in job.fact.pod_sets] == [(4, {"gpu": 1000})]


def test_jobs_come_in_order_of_time_then_of_input(tmp_path: Path) -> None:
    """The trace is not sorted; jobs are, and keep the names of their rows."""
    rows = ["2017-10-09 07:00:02,1.0,1,1.0,a", "2017-10-09 07:00:01,1.0,1,1.0,b", "2017-10-09 07:00:01,1.0,1,1.0,c"]
    jobs = read(tmp_path, PHILLY + "\n".join(rows), form="philly")
    assert [job.fact.workload for job in jobs] == ["philly-000002", "philly-000003", "philly-000001"]


def test_every_column_of_a_row_is_read(tmp_path: Path) -> None:
    """Names, amounts for each pod, flavors, priority and labels end up in the submission."""
    text = (
        "workload,submitted,duration,queue,namespace,user,group,kind,priority,pods,gpu,cpu,memory,resource:license,flavors,label:tier\n"
        "train,2026-01-02T03:04:05+01:00,1h30m,nlp,n,ada,g,Job,high,2,8,500m,80Gi,3,h100 a100,prod\n"
    )
    (job,) = read(tmp_path, text)
    fact, (pods,) = job.fact, job.fact.pod_sets
    assert job.duration == 5400 * SECOND
    assert fact.time == 1_767_319_445 * SECOND
    assert (fact.workload, fact.queue, fact.namespace, fact.user, fact.group) == ("train", "nlp", "n", "ada", "g")
    assert (fact.workload_kind, fact.priority, fact.labels) == ("Job", "high", {"tier": "prod"})
    assert (pods.count, pods.flavors) == (2, ("h100", "a100"))
    assert pods.requests == {"cpu": 500, "gpu": 8000, "license": 3, "memory": 80 * 2**30}


def test_where_pods_are_to_stand(tmp_path: Path) -> None:
    """A level, slices from wide to narrow, or any places; an empty cell says nothing."""
    text = (
        "workload,submitted,duration,queue,pods,gpu,within,near,anywhere,slices\n"
        "a,0s,1h,q,16,1,block,,,8 within rack; 4 within host\nb,0s,1h,q,1,1,,rack,no,\nc,0s,1h,q,1,1,,,yes,\n"
    )
    first, second, third = (job.fact.pod_sets[0] for job in read(tmp_path, text))
    assert (first.within, first.slices) == ("block", (Slice(level="rack", size=8), Slice(level="host", size=4)))
    assert (second.near, second.anywhere, third.anywhere, third.asks_for_places) == ("rack", False, True, True)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            "rack,host,,",
            "column `within`: it is given beside `near`, and pods stand within a level, near one another, or anywhere; leave all "
            "of the cells `within` and `near` empty but one",
        ),
        ("rack,host,yes,", "leave all of the cells `within` and `near` and `anywhere` empty but one"),
        (
            " ,,,",
            "column `within`: ` ` has a blank at an end, and no level is called so; write its name without blanks at its ends, or leave",
        ),
        (",rack ,,", "column `near`: `rack ` has a blank at an end, and no level is called so"),
        (
            ",,," + "; ".join(["2 within host"] * 17),
            "column `slices`: there are 17 entries, and at most 16 are allowed; leave some out",
        ),
        (",host,yes,", "column `near`: it is given beside `anywhere`"),
        ("x" * 254 + ",,,", "column `within`: there are more than 253 characters; shorten it"),
        (",,maybe,", "column `anywhere`: `maybe` is neither yes nor no; write `yes`"),
        (",,,4 in rack", "column `slices`: `4 in rack` is no size with a level; write `8 within rack`"),
        (",,,0 within rack", "column `slices`: `0 within rack` is no size with a level"),
        (",,,8 within rack; 3 within host", "column `slices`: slices of 8 pods are no whole number of slices of 3"),
    ],
)
def test_wrong_wishes_for_places(tmp_path: Path, cells: str, said: str) -> None:
    """They are told with their column."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"workload,submitted,duration,gpu,within,near,anywhere,slices\na,0s,1h,1,{cells}\n")
    assert said in str(caught.value)


def test_a_job_may_end_at_the_last_moment_of_the_calendar(tmp_path: Path) -> None:
    """What ends in the very last microsecond of the year 9999 is read; one microsecond more is refused."""
    (job,) = read(tmp_path, OURS + "a,9999-12-31T23:59:59Z,999999us,q,1\n")
    assert job.fact.time + job.duration == 253_402_300_800 * SECOND - 1


def test_empty_cells_say_nothing(tmp_path: Path) -> None:
    """An empty cell is a value that was not given; empty lines and a byte order mark are passed over."""
    text = "\ufeffworkload,submitted,duration,queue,priority,pods,cpu,gpu\n\na,0s,1s,,,,,1\n"
    (job,) = read(tmp_path, text)
    assert (job.fact.time, job.fact.queue, job.fact.priority) == (0, None, None)
    assert (job.fact.pod_sets[0].count, job.fact.pod_sets[0].requests) == (1, {"gpu": 1000})


@pytest.mark.parametrize(("cell", "priority"), [("-5", -5), ("100", 100), ("batch", "batch"), ("--5", "--5")])
def test_a_priority_is_a_number_or_a_name(tmp_path: Path, cell: str, priority: int | str) -> None:
    """What reads as a whole number is one; all else is a class's name."""
    (job,) = read(tmp_path, f"workload,submitted,duration,priority,gpu\na,0s,1s,{cell},1\n")
    assert job.fact.priority == priority


def test_json_lines_are_submissions_with_a_duration(tmp_path: Path) -> None:
    """A line holds the fields of WorkloadSubmitted; durations are text or microseconds, times text or microseconds."""
    text = (
        '{"workload":"a","time":5,"duration":"90m","pod_sets":[{"requests":{"gpu":"8"}}]}\n\n'
        '{"kind":"WorkloadSubmitted","workload":"b","time":"1970-01-01T00:00:00Z","duration":7,"pod_sets":[{"requests":{"gpu":8}}]}\n'
    )
    first, second = read(tmp_path, text, "jobs.jsonl")
    assert (first.fact.workload, first.duration) == ("b", 7)
    assert (second.fact.workload, second.duration) == ("a", 5400 * SECOND)
    assert second.fact.pod_sets[0].requests == {"gpu": 8000}


@pytest.mark.parametrize(
    ("text", "line", "problem", "remedy"),
    [
        ("", 1, "the file is empty", "start it with a header"),
        ("workload,submitted\n", 1, "column `duration` is missing", "at least workload,submitted,duration"),
        ("workload,submitted,duration,prioriti\n", 1, "unknown column `prioriti`", "did you mean `priority`?"),
        ("workload,submitted,duration,resource:\n", 1, "unknown column `resource:`", "resource:"),
        ("workload,submitted,duration,gpu,gpu\n", 1, "column `gpu` is there twice", "keep one"),
        (OURS + "a,0s,1s,q,1,2\n", 2, "the row has 6 cells, the header 5", "comma"),
        (OURS + 'a,0s,1s,"q,1\n', 2, "the row is not CSV", "quotes"),
        (OURS + "a,0s,1s,q,1\na,1s,1s,q,1\n", 3, "workload `a` is in line 2 already", "its own name"),
        (
            OURS + "a,0s,1s,q,1\nb,2026-01-01T00:00:00Z,1s,q,1\n",
            3,
            "column `submitted`: `2026-01-01T00:00:00Z` is a time of day",
            "one of the two",
        ),
        (OURS + "a,0,1s,q,1\n", 2, "column `submitted`: the unit is missing", "0s"),
        (OURS + "a,2026-01-01T00:00:00,1s,q,1\n", 2, "column `submitted`: `2026-01-01T00:00:00` has no zone", ""),
        (OURS + "a,1900-01-01T00:00:00Z,1s,q,1\n", 2, "column `submitted`", ""),
        (OURS + "a,0s,90,q,1\n", 2, "column `duration`: the unit is missing", "90s"),
        (OURS + "a,0s,-1h,q,1\n", 2, "column `duration`: `-1h` is below 0", "90s"),
        (OURS + "a,0s,1h,q,-1\n", 2, "column `gpu`: `-1` is below 0", "500m"),
        ("workload,submitted,duration\ra,0s,1s\r", 1, "a carriage return stands inside the row", "line feed"),
        (OURS + "a,0s,0s,q,1\n", 2, "column `duration`: a job has to last", "more than 0s"),
        (OURS + "a,0s,1s,q,0.0001\n", 2, "column `gpu`: `0.0001` is not a whole number of thousandths", "500m"),
        (OURS + ",0s,1s,q,1\n", 2, "column `workload`: the cell is empty", "write a name"),
        ("workload,submitted,duration,resource:x\na,0s,1s,0.5\n", 2, "column `resource:x`", "for one pod as a whole number such as 8"),
        (OURS + f"a,0s,1s,{'q' * 254},1\n", 2, "column `queue`: there are more than 253 characters", "shorten it"),
        ("workload,submitted,duration,pods\na,0s,1s,0\n", 2, "column `pods`: `0` is no number of pods", "from 1 to 1,000,000"),
        ("workload,submitted,duration,pods\na,0s,1s,٣\n", 2, "column `pods`", "whole number"),
        ("workload,submitted,duration,priority\na,0s,1s,9999999999\n", 2, "column `priority`", ""),
        ("workload,submitted,duration,priority\na,0s,1s,99999999999\n", 2, "column `priority`", ""),
        (f"workload,submitted,duration,priority\na,0s,1s,{'9' * 5000}\n", 2, "column `priority`", ""),
        ("workload,submitted,duration,gpu,resource:gpu\na,0s,1s,1,1\n", 2, "column `resource:gpu`", "keep `gpu`"),
        (
            "workload,submitted,duration,flavors\na,0s,1s," + " ".join("x" * 65) + "\n",
            2,
            "column `flavors`: there are 65 entries",
            "leave some out",
        ),
        ("workload,submitted,duration,memory\na,0s,1s,0.5\n", 2, "column `memory`", "write an amount for one pod such as 80Gi"),
        ("workload,submitted,duration,pods,resource:x\na,0s,1s,1000000,9000000000000000000\n", 2, "beyond 64 bits", "column `pods`"),
        (OURS + f"a,0s,1s,q,1\nb,{2**63 - 1}us,1s,q,1\n", 3, "`b` would not end before the year 10000", "submission or its duration"),
        (OURS + "a,9999-12-31T23:59:59Z,1s,q,1\n", 2, "`a` would not end before the year 10000", "submission or its duration"),
        (OURS + f"a,0s,{2**63}us,q,1\n", 2, "beyond 64 bits", "column `duration`"),
        (b"workload,submitted,duration\n\xffa,0s,1s\n", 2, "byte 1 of the line is 0xff", "UTF-8"),
        ("workload,submitted,duration\n" + "a" * 1_000_001, 2, "the line is longer than 1,000,000 bytes", "line break"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_remedy(tmp_path: Path, text: str | bytes, line: int, problem: str, remedy: str) -> None:
    """Whatever is wrong is said with file, line, column, cause and what to do."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert (caught.value.file, caught.value.line) == ("jobs.csv", line)
    assert problem in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("2017-10-09 07:01:55,66.0,1,67.0,a", "column `gpu_time`: 67.0 is not num_gpus x duration"),
        ("2017-10-09T07:01:55Z,66.0,1,66.0,a", "column `timestamp`: `2017-10-09T07:01:55Z` is no time of this form"),
        ("yesterday,66.0,1,66.0,a", "column `timestamp`: `yesterday` is no time"),
        ("2017-10-09 07:01:55,1e3,1,1e3,a", "column `duration`: `1e3` is no number of seconds"),
        ("2017-10-09 07:01:55,-1,1,-1,a", "is no number of seconds"),
        ("2017-10-09 07:01:55,0.0,1,0.0,a", "column `duration`: a job has to last"),
        ("2017-10-09 07:01:55,0.0000001,1,0.0000001,a", "is no 64-bit number of microseconds"),
        ("2017-10-09 07:01:55,66.0,0,0.0,a", "column `num_gpus`: `0` is no number"),
        ("2017-10-09 07:01:55,66.0,1,66.0,", "column `cluster`"),
    ],
)
def test_a_bad_row_of_the_trace_is_named(tmp_path: Path, row: str, problem: str) -> None:
    """A row that contradicts itself or is out of form is refused."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, PHILLY + row + "\n", form="philly")
    assert caught.value.line == 2
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "the line is not JSON"),
        ("[]", "the line is no JSON object"),
        ("[" * 100_000, "the line nests too deep"),
        ("1" * 5_000, "too long a number"),
        ('{"time":0,"time":1}', "`time` is there twice; keep one"),
        (
            '{"workload":"a","time":9223372036854775807,"duration":1,"pod_sets":[{"requests":{}}]}',
            "`a` would not end before the year 10000",
        ),
        ('{"workload":"a","time":0,"pod_sets":[{"requests":{}}]}', "duration: missing"),
        ('{"workload":"a","time":0,"duration":0,"pod_sets":[{"requests":{}}]}', "duration: 0 is none"),
        ('{"workload":"a","time":0,"duration":1.5,"pod_sets":[{"requests":{}}]}', "duration: 1.5 is none"),
        ('{"workload":"a","time":0,"duration":true,"pod_sets":[{"requests":{}}]}', "duration: true is none"),
        ('{"workload":"a","time":0,"duration":"5","pod_sets":[{"requests":{}}]}', "duration: the unit is missing"),
        ('{"workload":"a","time":0,"duration":5,"pod_sets":[{"requests":{"gpu":0.5}}]}', "pod_sets.0.requests.gpu"),
        ('{"workload":"a","time":0,"duration":5,"pods":1,"pod_sets":[{"requests":{}}]}', "pods"),
        (
            '{"workload":"a","time":0,"duration":5,"pod_sets":[{"name":"m","group":"g","requests":{},"within":"rack"},'
            '{"name":"n","group":"g","count":2,"requests":{}}]}',
            "pod_sets: pod set `m` leads `n`, stands where those stand, and asks for other places than they do; let the leader ask",
        ),
        ('{"kind":"TimeAdvanced","time":0,"duration":5}', "the line is a TimeAdvanced"),
        ('{"workload":"\\ud800","time":0,"duration":5,"pod_sets":[{"requests":{}}]}', "half of a character"),
    ],
)
def test_a_bad_json_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    """A line that is no submission with a duration is refused with its number."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, "\n" + line + "\n", "jobs.jsonl")
    assert caught.value.line == 2
    assert problem in str(caught.value)


@pytest.mark.slow
def test_the_whole_trace_is_read(shared: Path) -> None:
    """All 82,247 jobs of the Philly trace, sorted, with the GPU-hours that its description states."""
    jobs = read_jobs(shared / "traces" / "philly_sia" / "philly.csv", "philly")
    assert len(jobs) == 82_247
    assert all(one.fact.time <= other.fact.time for one, other in pairwise(jobs))
    assert sum(job.duration * job.fact.pod_sets[0].count for job in jobs) // (3_600 * SECOND) == 978_078
    assert len({job.fact.queue for job in jobs}) == 15
