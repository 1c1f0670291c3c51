"""Writers whose connection breaks: at each point of each batch once, with five in flight, over restarts of the server.
Whatever was lost, each row stands there once and no writer hears of an error (pains 81, 82)."""
import asyncio
import json

import pyarrow as pa
import pytest

from harness import client as clients
from harness.client import fold
from harness.proxy import ANSWER_LOST, POINTS, Proxy, each_once
from harness.server import Server
from harness.weir import Weir

ROWS = pa.schema([pa.field("id", pa.int64(), nullable=False), ("v", pa.string())])
pytestmark = pytest.mark.own
KINDS = pytest.mark.parametrize("key", [None, ["id"]], ids=["log", "pk"])
# So that a batch holds few rows and five of them are in flight.
SMALL = {"writer_dynamic_batch_size_enabled": False, "writer_dynamic_batch_size_min": 1024, "writer_batch_size": 1024}


class Place:
    """A server that clients reach only through a proxy."""

    def __init__(self, directory, **options):
        self.fault, self.answered = None, lambda: None
        self.proxy = Proxy(lambda: self.server.bootstrap, lambda *a: self.fault and self.fault(*a), lambda: self.answered())
        self.server = Server(directory, {"advertised.listeners": f"FLUSS://{self.proxy.bootstrap}", **options}).start()
        self.bootstrap, self.warehouse = self.proxy.bootstrap, self.server.warehouse

    def close(self):
        self.proxy.__exit__()
        self.server.finish()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    p = Place(tmp_path_factory.mktemp("lost"))
    yield p
    p.close()


@pytest.fixture
def own(tmp_path):
    made = []

    def make(**options):
        made.append(Place(tmp_path, **options))
        return made[-1]
    yield make
    for p in made:
        p.close()


async def table(connect, place, key, buckets=1):
    """A table by a client that the proxy leaves alone for now, and the client that writes."""
    place.fault = None
    client = await connect(place, attributes=SMALL)
    return await client.create(ROWS, key, buckets=buckets, lake=False)


def rows(n, first=0, width=40):
    return [{"id": first + i, "v": f"value-{first + i:06d}" + "x" * width} for i in range(n)]


WIDE = 3000  # 4000 of them are ten batches of weir's own client, which has five in flight


async def write(t, rows, key, pause=None):
    """By one writer, and each row's own answer is looked at: flush alone does not tell of a failed batch. pause: between
    rows, since pyfluss sends a further batch when one gets full or an answer comes, not all that are full."""
    handles = []
    for r in rows:
        handles.append(t.upserter.upsert(r) if key else t.appender.append(r))
        if pause is not None:
            await asyncio.sleep(pause)
    await (t.upserter if key else t.appender).flush()
    for h in handles:
        if h is not None:
            await h.wait()


async def check(t, want, key):
    """Each row once, each bucket's in the order in which they were written."""
    changes = await t.scan(count=len(want))
    assert sum((await t.ends()).values()) == len(changes), "more rows than were written"
    if key:
        assert sorted(fold(changes, key).values(), key=lambda r: r["id"]) == sorted(t.rows(want), key=lambda r: r["id"])
    for b in range(t.buckets):
        mine = [c.row["id"] for c in changes if c.bucket == b]
        assert mine == sorted(set(mine)), f"bucket {b}"
    assert sorted(c.row["id"] for c in changes) == [r["id"] for r in want]


@KINDS
@pytest.mark.parametrize("point", POINTS)
async def test_each_batch_fails_once_at_each_point(place, connect, key, point):
    t = await table(connect, place, key)
    want = rows(120)
    place.fault = fault = each_once(point)
    await write(t, want, key)
    assert len(fault.seen) >= 5
    await check(t, want, key)


@KINDS
@pytest.mark.parametrize("point, nth", [(p, 4) for p in POINTS] + [(ANSWER_LOST, n) for n in range(4)])
async def test_one_of_five_in_flight_fails(place, connect, key, point, nth):
    """Answers are held back until five batches wait for theirs; then the nth of them fails."""
    t = await table(connect, place, key)
    want = rows(120)
    first = 2
    place.proxy.hold, place.proxy.waiting_max = 5, 0

    def point_of(n):
        if n == first + 4 and point != ANSWER_LOST:
            place.proxy.hold = 0
        return point if n == first + nth else None

    def answered():
        place.proxy.hold = 0
    place.fault, place.answered = each_once(point_of), answered
    try:
        await write(t, want, key, pause=0.0005)
    finally:
        place.proxy.hold, place.answered = 0, lambda: None
    assert place.proxy.waiting_max == 5
    await check(t, want, key)


@KINDS
async def test_several_buckets_with_points_in_turn(place, connect, key):
    t = await table(connect, place, key, buckets=3)
    want = rows(200)
    place.fault = each_once(lambda n: POINTS[n % len(POINTS)])
    await write(t, want, key)
    await check(t, want, key)


@KINDS
async def test_the_own_client_fails_once_for_each_batch(place, connect, key):
    t = await table(connect, place, key, buckets=2)
    want = rows(4000, width=WIDE)
    place.fault = fault = each_once(lambda n: POINTS[n % len(POINTS)])
    lines = "".join(json.dumps(r) + "\n" for r in want)
    await asyncio.to_thread(Weir(place.bootstrap).run, "put", t.name, stdin=lines)
    assert len(fault.seen) >= 2 * len(POINTS)
    place.fault = None
    await check(t, want, key)


@KINDS
async def test_the_server_dies_between_a_batch_and_its_answer(own, connect, key):
    """It has the batch on disk and is killed before the client hears of it, three times; then it starts again."""
    place = own()
    t = await table(connect, place, key, buckets=2)
    want, left = rows(300), [3]

    def answered():
        if left[0]:
            left[0] -= 1
            place.server.restart()
    place.fault, place.answered = each_once(lambda n: ANSWER_LOST if n % 5 == 3 else None), answered
    await write(t, want, key)  # all at once: pyfluss takes no row while it looks for the leader
    assert left == [0]
    await check(t, want, key)


@KINDS
async def test_the_own_client_over_a_dying_server(own, connect, key):
    place = own()
    t = await table(connect, place, key)
    want, left = rows(4000, width=WIDE), [2]

    def answered():
        if left[0]:
            left[0] -= 1
            place.server.restart()
    place.fault, place.answered = each_once(ANSWER_LOST), answered
    lines = "".join(json.dumps(r) + "\n" for r in want)
    await asyncio.to_thread(Weir(place.bootstrap).run, "put", t.name, stdin=lines)
    assert left == [0]
    place.fault = None
    await check(t, want, key)


@KINDS
async def test_a_forgotten_writer_is_told_once_and_goes_on(own, connect, key):
    """server.writer-id.expiration-time: a writer that was silent for longer is unknown, before and after a restart. As in
    Fluss the next batch is refused, which its sender is told, and those after it pass under a new id. What the log holds
    of forgotten writers is replayed at the start without a question."""
    place = own(**{"server.writer-id.expiration-time": "1 s"})
    t = await table(connect, place, key)
    await write(t, rows(40), key)
    await asyncio.sleep(1.2)
    with pytest.raises(Exception) as e:
        await write(t, rows(1, 1000), key)
    assert getattr(e.value, "error_code", None) == 31, e.value
    await write(t, rows(40, 40), key)
    place.server.options["server.writer-id.expiration-time"] = "7 d"  # a start may take longer than that second
    place.server.restart()
    await write(t, rows(40, 80), key)
    await asyncio.sleep(1.2)
    place.server.options["server.writer-id.expiration-time"] = "1 s"
    place.server.restart()
    fresh = await table(connect, place, key)
    again = await fresh.client.open(t.path, ROWS)
    await write(again, rows(40, 120), key)
    await check(again, rows(160), key)
