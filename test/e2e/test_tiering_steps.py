"""kill -9 at each named step of a round, a compaction, an expiry: after the restart no row is in the lake twice, none is missing, no file lies about.

weir.test.end-at ends the server at a step; the steps are the os_step() calls of src/tier and src/lake/paimon."""
import asyncio
import time

import fluss
import pyarrow as pa
import pytest

from harness import lake

EVENTS = pa.schema([("id", pa.int64()), ("note", pa.string())])
USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("version", pa.int64()), ("note", pa.string())])
ROUND = ["tier.written", "tier.prepared", "paimon.files", "paimon.manifests", "paimon.staged", "paimon.published",
         "tier.committed", "tier.registered"]
KEEPER = ["keep.written", "keep.committed", "keep.registered", "keep.expired"]
pytestmark = pytest.mark.own


async def write_until_it_ends(server, table):
    """Writes until the server is gone."""
    for n in range(2000):
        if server.process.poll() is not None:
            break
        try:
            if table.pk:
                table.upserter.upsert({"id": n % 50, "version": n, "note": "x" * (n % 40)})
                if n % 7 == 0:
                    table.upserter.delete({"id": n % 13})
            else:
                table.appender.append({"id": n, "note": "x" * (n % 40)})
        except fluss.FlussError:
            break
        await asyncio.sleep(0.002)
    begin = time.monotonic()
    while server.process.poll() is None:
        assert time.monotonic() - begin < 20, "the server went past the step"
        await asyncio.sleep(0.02)


def rows_of(changes, pk):
    if not pk:
        return [c.row for c in changes]
    state = {}
    for c in changes:
        if c.kind in ("+I", "+U"):
            state[c.row["id"]] = c.row
        elif c.kind == "-D":
            del state[c.row["id"]]
    return list(state.values())


async def check(client, server, table):
    """Stream and lake hold the same; the newest lake snapshot is the registered one, at the log's ends."""
    changes = await table.scan()
    assert changes
    await table.lake(rows_of(changes, table.pk), seconds=30)
    if not table.pk:
        placed = [(r["__bucket"], r["__offset"]) for r in lake.read(server.warehouse, table.name, table.schema, system=True)]
        assert sorted(placed) == sorted((c.bucket, c.offset) for c in changes)
    ends, begin = {b: e for b, e in (await table.ends()).items() if e}, time.monotonic()
    while True:
        s = await client.admin.get_latest_lake_snapshot(table.path)
        if {b.bucket_id: o for b, o in s.table_buckets_offset.items()} == ends:
            break
        assert time.monotonic() - begin < 10, f"lake at {s.table_buckets_offset}, log at {ends}"
        await asyncio.sleep(0.05)
    await lake.nothing_dangling(server.warehouse, table.name)


async def kill_at(server, connect, step, pk):
    server.options["weir.test.end-at"] = f"{step}:2"
    server.start()
    table = await (await connect(server)).create(USERS if pk else EVENTS, pk, buckets=2, bucket_keys=["id"], lake=True, freshness="200ms")
    path, schema = table.path, table.schema
    await write_until_it_ends(server, table)
    del server.options["weir.test.end-at"]
    server.start()
    await asyncio.wait_for((table.upserter if pk else table.appender).flush(), 30)  # what was on its way comes again
    client = await connect(server)
    table = await client.open(path, schema)
    await check(client, server, table)
    await (table.upsert([{"id": 3, "version": -1, "note": "after"}]) if pk else table.append([{"id": -1, "note": "after"}]))
    await check(client, server, table)


@pytest.mark.parametrize("pk", [None, ["id"]], ids=["log", "pk"])
@pytest.mark.parametrize("step", ROUND)
async def test_a_kill_at_a_step_of_a_round_harms_nothing(server, connect, step, pk):
    await kill_at(server, connect, step, pk)


@pytest.mark.parametrize("step", KEEPER)
async def test_a_kill_at_a_step_of_the_keeper_harms_nothing(server, connect, step):
    server.options["weir.tier.expire.time"] = "1 s"
    await kill_at(server, connect, step, ["id"])
