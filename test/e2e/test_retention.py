"""Segments that are older than table.log.ttl go: what is left is right, and what the lake does not hold stays."""
import asyncio
import time

import fluss
import pyarrow as pa
import pytest

from harness.partitions import Partitions
from harness.weir import Weir, verify
from harness.wire import Wire
from test_log_forms import fetch, split

EVENTS = pa.schema([pa.field("id", pa.int64(), nullable=False), ("note", pa.string())])
SHORT = {"table.log.ttl": "500ms"}
EARLIEST = -2

pytestmark = [pytest.mark.own, pytest.mark.timeout(120)]


def event(i, v=0):
    return {"id": i, "note": f"event {i} v{v}"}


@pytest.fixture
def trimming(server):
    server.options |= {"log.segment.file-size": "120b", "log.retention.check-interval": "100ms"}
    return server


async def start_of(table):
    return (await table.ends(fluss.OffsetSpec.earliest()))[0]


async def until(what, seconds=20):
    deadline = time.monotonic() + seconds
    while not await what():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


def segments(server, table):
    """Of its first bucket, with their bytes."""
    return {p.name: p.stat().st_size for p in server.data.glob(f"*/{table.path.table_name}-*/log-0/*.log")}


async def test_old_segments_go_and_stay_gone(trimming, connect):
    """By time alone, and still after a restart (pains 86, 97)."""
    trimming.start()
    client = await connect(trimming)
    table = await client.create(EVENTS, properties=SHORT)
    kept = await client.create(EVENTS, properties={"table.log.ttl": "-1"})
    for i in range(20):
        await table.append([event(i)])
        await kept.append([event(i)])
    # The newest segment stays, so do its rows: one batch a segment.
    start = await settled(table, 15)
    await until(lambda: disk_is(trimming, table, 1))
    assert len(segments(trimming, kept)) >= 2 and await start_of(kept) == 0
    weir = Weir(trimming.bootstrap)
    weir.run("tail", table.name, "--from", "0", "--limit", "1", code=64)
    assert "E-LOG-OFFSET-OUT-OF-RANGE" in weir.errors and "went by table.log.ttl" in weir.errors and "--from earliest" in weir.errors
    assert len(weir.rows("scan", table.name)) == 20 - start
    for restarted in (False, True):
        assert await start_of(table) == start
        assert [c.offset for c in await table.scan()] == list(range(start, 20))
        with Wire(trimming.bootstrap) as w:
            assert fetch(w, table.id, start - 1)["error_code"] == 19
            assert len(list(split(fetch(w, table.id, EARLIEST)["records"]))) == 20 - start
            assert fetch(w, table.id, start)["log_start_offset"] == start
        assert len(await kept.scan()) == 20
        if not restarted:
            trimming.restart()
            client = await connect(trimming)
            table, kept = [await client.open(t.path, EVENTS) for t in (table, kept)]
    await table.append([event(20)])
    assert [c.row["id"] for c in await table.scan(start={0: 20})] == [20]


async def settled(table, least):
    """The start when it has reached that and moves no more: at the newest segment, which may have several rows."""
    seen = []

    async def rests():
        seen.append(await start_of(table))
        return seen[-1] >= least and len(seen) > 15 and seen[-1] == seen[-15]
    await until(rests, seconds=40)
    return seen[-1]


async def disk_is(server, table, count):
    return len(segments(server, table)) <= count


async def test_a_log_that_is_old_as_a_whole_goes_where_that_is_asked_for(trimming, connect):
    trimming.options["log.retention.roll-active-segment.enabled"] = "true"
    trimming.start()
    client = await connect(trimming)
    table = await client.create(EVENTS, properties=SHORT)
    await table.append([event(i) for i in range(50)])
    await until(lambda: is_empty(table, 50))
    await until(lambda: disk_is(trimming, table, 1))
    assert sum(segments(trimming, table).values()) == 0
    trimming.restart()
    table = await (await connect(trimming)).open(table.path, EVENTS)
    assert await start_of(table) == 50
    await table.append([event(50)])
    assert [(c.offset, c.row["id"]) for c in await table.scan()] == [(50, 50)]


async def is_empty(table, end):
    return await start_of(table) == end


async def test_rows_that_the_lake_lacks_stay(trimming, connect):
    trimming.options["weir.tier.enabled"] = "false"
    trimming.start()
    client = await connect(trimming)
    table = await client.create(EVENTS, lake=True, properties=SHORT)
    keyed = await client.create(EVENTS, ["id"], properties=SHORT)
    for i in range(10):
        await table.append([event(i)])
        await keyed.upsert([event(i % 3, i)])
    await asyncio.sleep(1.5)
    assert await start_of(table) == 0 and len(await table.scan()) == 10
    assert await start_of(keyed) == 0  # its changelog is all that a reader can begin with
    trimming.stop()
    trimming.options["weir.tier.enabled"] = "true"
    trimming.start()
    # Now the lake gets them, and they may go; new ones come on top.
    table = await (await connect(trimming)).open(table.path, EVENTS)
    await settled(table, 6)
    for i in range(10, 13):
        await table.append([event(i)])
    start = await settled(table, 10)
    weir = Weir(trimming.bootstrap)
    rows = await asyncio.to_thread(weir.rows, "scan", table.name)
    assert sorted(r["id"] for r in rows) == list(range(13))
    hot = await asyncio.to_thread(weir.rows, "scan", table.name, "--hot")
    assert [r["id"] for r in hot] == list(range(start, 13))
    verdict = await verify(trimming, table.name)
    assert verdict["equal"] and verdict["trimmed_rows"] == start and verdict["lake_rows"] == 13 - start


async def test_each_partition_is_trimmed_by_its_own_rows(trimming, connect):
    """One has had its rows, another gets some later; nothing is missing in a scan, and verify counts what went."""
    trimming.start()
    client = await connect(trimming)
    schema = pa.schema([*EVENTS, ("region", pa.string())])
    table = await client.create(schema, partition_keys=["region"], lake=True, freshness="200ms", properties=SHORT)
    parts = Partitions(trimming, table.name)
    for region in ("old", "new"):
        parts.create({"region": region})
    rows = [event(i) | {"region": "old"} for i in range(6)]
    for row in rows:
        await table.append([row])
    ids = parts.list()

    def start(region):
        with Wire(trimming.bootstrap) as w:
            request = {"follower_server_id": -1, "offset_type": 0, "table_id": table.id, "partition_id": ids[region], "bucket_id": [0]}
            return w.call("LIST_OFFSETS", request)["buckets_resp"][0]["offset"]

    async def trimmed(region, least):
        return start(region) >= least
    await until(lambda: trimmed("old", 5))
    assert start("new") == 0
    for i in range(10, 16):
        rows.append(event(i) | {"region": "new"})
        await table.append(rows[-1:])
    await until(lambda: trimmed("new", 5))
    assert start("old") <= 6
    weir = Weir(trimming.bootstrap)
    assert sorted(r["id"] for r in await asyncio.to_thread(weir.rows, "scan", table.name)) == sorted(r["id"] for r in rows)
    verdict = await verify(trimming, table.name)
    assert verdict["equal"] and verdict["trimmed_rows"] == start("old") + start("new")


async def test_the_lake_may_be_enabled_after_rows_have_gone(trimming, connect):
    trimming.start()
    client = await connect(trimming)
    table = await client.create(EVENTS, buckets=2, properties=SHORT)
    for i in range(20):
        await table.append([event(i)])
    await until(lambda: at_end_of_all(table))
    weir = Weir(trimming.bootstrap)
    with Wire(trimming.bootstrap) as w:
        w.call("ALTER_TABLE", {"table_path": {"database_name": "fluss", "table_name": table.path.table_name}, "ignore_if_not_exists": False,
                               "config_changes": [{"config_key": "table.datalake.enabled", "config_value": "true", "op_type": 0},
                                                  {"config_key": "table.datalake.freshness", "config_value": "1s", "op_type": 0},
                                                  {"config_key": "table.log.ttl", "config_value": "1 h", "op_type": 0}]})
    await table.append([event(20)])
    verdict = await verify(trimming, table.name)
    rows = await asyncio.to_thread(weir.rows, "scan", table.name)
    assert verdict["equal"] and len(rows) == verdict["lake_rows"] < 20 and max(r["id"] for r in rows) == 20


async def at_end_of_all(table):
    starts, ends = await table.ends(fluss.OffsetSpec.earliest()), await table.ends()
    return all(starts[b] >= ends[b] - 4 for b in ends) and any(starts.values())


async def test_a_reader_in_front_of_the_trim_never_fails(trimming, connect):
    """Segments move away behind it all the time (pain 90)."""
    trimming.start()
    client = await connect(trimming)
    table = await client.create(EVENTS, properties={"table.log.ttl": "1s"})
    scanner = await table.handle.new_scan().create_log_scanner()
    scanner.subscribe_buckets({0: 0})
    seen, count = [], 100
    writer = asyncio.create_task(write(table, count))
    deadline = time.monotonic() + 60
    while len(seen) < count and time.monotonic() < deadline:
        for _, records in (await scanner.poll(100)).items():
            seen += [r.offset for r in records]
    await writer
    assert seen == list(range(count))
    assert await start_of(table) > 0


async def write(table, count):
    for i in range(count):
        await table.append([event(i)])
        await asyncio.sleep(0.01)
