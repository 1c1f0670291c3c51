"""Where Apache Fluss 0.9.1 goes wrong when it is run: each case by name, as weir must have it.

(1) is test_crash.py too, under load and through many kills.
"""
import asyncio
import datetime as dt
import random
import time

import fluss
import pyarrow as pa
import pytest

from harness.wire import BATCH_SCHEMA, Wire, log_batch, produce, table_path

EVENTS = pa.schema([("id", pa.int64()), ("kind", pa.string())])
USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string())])
pytestmark = pytest.mark.own  # stock fails these; that is why they are here


@pytest.mark.parametrize("repeat", range(3))
async def test_1_rows_acknowledged_just_before_a_kill_are_there(server, connect, repeat):
    server.start()
    client = await connect(server)
    log, pk = await client.create(EVENTS, buckets=2), await client.create(USERS, ["id"], buckets=2)
    rows, users = [{"id": i, "kind": "k"} for i in range(5000)], [{"id": i, "name": f"n{i}"} for i in range(3000)]
    await asyncio.gather(log.append(rows), pk.upsert(users))
    server.kill()
    server.start()
    client = await connect(server)
    log, pk = await client.open(log.path, EVENTS), await client.open(pk.path, USERS)
    assert sorted(c.row["id"] for c in await log.scan()) == list(range(5000))
    assert sorted(c.row["id"] for c in await pk.scan()) == list(range(3000))
    assert await pk.lookup([{"id": i} for i in range(0, 3000, 100)]) == pk.rows(users[::100])


@pytest.mark.parametrize("zone", [None, "UTC"], ids=["timestamp", "ltz"])
async def test_2_times_before_1970_below_the_millisecond_tier_exactly(client, zone):
    """The Java log reader throws on them and with it the whole tiering job. Another table must go on, and this one land."""
    schema = pa.schema([("id", pa.int64()), ("six", pa.timestamp("us", tz=zone)), ("nine", pa.timestamp("ns", tz=zone))])
    t, other = await client.create(schema, lake=True, name="old_times"), await client.create(EVENTS, lake=True)
    nanos = [-1, -999, -1000, -1_000_001, -86_400_000_000_001, -2_208_988_800_000_000_001, 1, 0]
    batch = pa.RecordBatch.from_arrays([pa.array(range(len(nanos)), pa.int64()), pa.array([n // 1000 for n in nanos], pa.int64()).cast(schema.field("six").type),
                                        pa.array(nanos, pa.int64()).cast(schema.field("nine").type)], schema=schema)
    await t.append_arrow(batch)
    await other.append([{"id": 1, "kind": "k"}])
    want = [{"id": i, "six": n // 1000 * 1000, "nine": n} for i, n in enumerate(nanos)]
    assert await t.arrow() == want
    await t.lake(want)
    await other.lake(other.rows([{"id": 1, "kind": "k"}]))


async def test_2_times_before_1970_by_rows_tier_exactly(client):
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), ("at", pa.timestamp("us", tz="UTC"))])
    t = await client.create(schema, ["id"], lake=True)
    rows = [{"id": i, "at": dt.datetime(1969, 12, 31, 23, 59, 59, 999999 - i, tzinfo=dt.timezone.utc)} for i in range(5)]
    await t.upsert(rows)
    await t.lake(t.rows(rows))
    assert await t.lookup([{"id": i} for i in range(5)]) == t.rows(rows)


async def until_tiered(client, table, seconds=10):
    """Until the offsets of the lake snapshot are the ends of the log."""
    ends, begin, offsets = await table.ends(), time.monotonic(), None
    while time.monotonic() - begin < seconds:
        try:
            s = await client.admin.get_latest_lake_snapshot(table.path)
            offsets = {b.bucket_id: o for b, o in s.table_buckets_offset.items()}
        except fluss.FlussError as e:
            assert e.error_code == fluss.ErrorCode.LAKE_SNAPSHOT_NOT_EXIST
        if offsets and all(offsets.get(b, 0) == e for b, e in ends.items()):
            return time.monotonic() - begin
        await asyncio.sleep(0.05)
    raise AssertionError(f"{table.name}: lake at {offsets}, log at {ends} after {seconds} s")


async def test_3_empty_batches_at_the_end_are_passed(client):
    """Deletes of absent keys leave nothing to write; the lake offset reaches the end all the same, and soon."""
    t, other = await client.create(USERS, ["id"], buckets=2, lake=True), await client.create(EVENTS, lake=True)
    rows = [{"id": i, "name": "a"} for i in range(10)]
    await t.upsert(rows)
    await t.lake(t.rows(rows))
    for i in range(100, 120):
        await t.delete([{"id": i}])
    await until_tiered(client, t)
    await other.append([{"id": 1, "kind": "k"}])
    assert await other.lake(other.rows([{"id": 1, "kind": "k"}]), seconds=10) < 8
    await t.upsert([{"id": 100, "name": "b"}])
    await t.lake(t.rows([*rows, {"id": 100, "name": "b"}]))


@pytest.mark.own  # a stock server tells the end of the empty batches, where its bounded readers then wait for ever
async def test_3_the_latest_offset_is_behind_the_last_row(client, shared):
    t = await client.create(USERS, ["id"])
    await t.upsert([{"id": i, "name": "a"} for i in range(3)])
    await t.delete([{"id": 1}])
    for i in range(100, 105):
        await t.delete([{"id": i}])
    assert await t.ends() == {0: 4}
    await t.upsert([{"id": 1, "name": "b"}])
    assert await t.ends() == {0: 10}


async def test_3_a_table_of_nothing_but_empty_batches_holds_up_nobody(client):
    t = await client.create(USERS, ["id"], lake=True)
    await t.delete([{"id": 1}])
    other = await client.create(EVENTS, lake=True)
    await other.append([{"id": 1, "kind": "k"}])
    assert await other.lake(other.rows([{"id": 1, "kind": "k"}]), seconds=10) < 8
    await t.upsert([{"id": 1, "name": "a"}])
    await t.lake(t.rows([{"id": 1, "name": "a"}]))


async def test_4_a_table_dropped_during_its_round_disturbs_no_other(client):
    """Large first rounds are cut by a drop at a random moment, again and again; the other tables keep landing."""
    r = random.Random(4)
    other, rows = await client.create(USERS, ["id"], lake=True), {}
    batch = pa.RecordBatch.from_pylist([{"id": i, "kind": "k" * (i % 30)} for i in range(20000)], schema=EVENTS)
    for n in range(8):
        t = await client.create(EVENTS, buckets=2, lake=True, name="doomed")
        await t.append_arrow(batch)
        await asyncio.sleep(r.uniform(0, 0.6))
        await client.admin.drop_table(t.path)
        rows[n] = {"id": n, "name": f"n{n}"}
        await other.upsert([rows[n]])
        await other.lake(other.rows(rows.values()), seconds=20)


async def test_6_reads_and_writes_right_after_create_table_are_served(client, shared):
    """No call of a client that does not try again: bytes by hand, in the same moment."""
    schema = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
    with Wire(shared.bootstrap) as w:
        for _ in range(50):
            t = await client.create(schema, buckets=3)
            for b in range(3):
                (answer,) = w.call("PRODUCE_LOG", produce(t.id, log_batch(), b))["buckets_resp"]
                assert "error_code" not in answer, answer
                scan = w.call("LIMIT_SCAN", {"table_id": t.id, "bucket_id": b, "limit": 10})
                assert "error_code" not in scan and scan["records"], scan
            await client.admin.drop_table(t.path)


def test_7_everything_answers_once_ready_is_printed(server):
    """A metadata request in the very moment of the ready line, over several starts; with tables to open, too."""
    for _ in range(10):
        server.start()
        with Wire(server.bootstrap) as w:
            answer = w.call("GET_METADATA", {"table_path": []})
            assert answer["tablet_servers"] and answer["coordinator_server"]
            assert w.call("LIST_DATABASES", {})["database_name"] == ["fluss"]
        server.kill()
    server.start()


async def test_7_a_table_is_served_in_the_moment_of_ready(server, connect):
    schema = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
    server.start()
    t = await (await connect(server)).create(schema, buckets=20)
    for n in range(5):
        server.restart()
        with Wire(server.bootstrap) as w:
            w.call("GET_METADATA", {"table_path": [table_path(t.name)]})
            for b in range(20):
                (answer,) = w.call("PRODUCE_LOG", produce(t.id, log_batch(), b))["buckets_resp"]
                assert "error_code" not in answer, (n, b, answer)


@pytest.mark.timeout(600)
async def test_8_drop_and_create_in_haste_always_gives_a_table_that_serves(client, shared):
    rounds = 1000
    schema = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
    files, memory = shared.files_open(), shared.resident_bytes()
    name, ids = f"haste_{int(time.time())}", set()
    path = fluss.TablePath("fluss", name)
    descriptor = fluss.TableDescriptor(fluss.Schema(schema), bucket_count=2)
    with Wire(shared.bootstrap) as w:
        for n in range(rounds):
            await client.admin.create_table(path, descriptor)
            info = w.call("GET_METADATA", {"table_path": [table_path(f"fluss.{name}")]})
            (table,) = info["table_metadata"]
            assert all("leader_id" in b for b in table["bucket_metadata"]) and len(table["bucket_metadata"]) == 2
            ids.add(table["table_id"])
            (answer,) = w.call("PRODUCE_LOG", produce(table["table_id"], log_batch(), n % 2))["buckets_resp"]
            assert answer.get("base_offset") == 0 and "error_code" not in answer, answer
            await client.admin.drop_table(path)
    assert len(ids) == rounds
    deadline = time.monotonic() + 30
    while shared.files_open() > files + 10 and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
    assert shared.files_open() <= files + 10
    assert shared.resident_bytes() - memory < (64 << 20)
