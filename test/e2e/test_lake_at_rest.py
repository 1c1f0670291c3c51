"""What the keeper does: a table at rest is read without merging, one under load in few pieces, and snapshots expire."""
import asyncio
import pathlib
import time

import pyarrow as pa
import pytest

from harness import lake

USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string()), ("score", pa.int64())])
EVENTS = pa.schema([("id", pa.int64()), ("note", pa.string())])
pytestmark = pytest.mark.own


def user(i, v=0):
    return {"id": i, "name": f"user-{i}-v{v}", "score": i * 10 + v}


def splits(server, table):
    return lake.open_table(server.warehouse, table.name).new_read_builder().new_scan().plan().splits()


def snapshots(server, table):
    directory = pathlib.Path(server.warehouse) / "fluss.db" / table.path.table_name / "snapshot"
    return sorted(int(p.name.split("-")[1]) for p in directory.glob("snapshot-*"))


async def until(what, seconds=20):
    begin = time.monotonic()
    while not what():
        assert time.monotonic() - begin < seconds, f"not within {seconds} s"
        await asyncio.sleep(0.1)


async def registered(client, table):
    s = await client.admin.get_latest_lake_snapshot(table.path)
    return s.snapshot_id, {b.bucket_id: o for b, o in s.table_buckets_offset.items()}


async def test_a_table_at_rest_is_merged_to_raw_splits(server, connect):
    """Updates and deletes in several rounds; then nothing comes. pypaimon then reads all of it without merging, the
    compaction's snapshot is the registered one, and the next change is tiered as ever."""
    server.start()
    client = await connect(server)
    t = await client.create(USERS, ["id"], buckets=2, lake=True, freshness="200ms")
    model = {}
    for v in range(4):
        rows = [user(i, v) for i in range(v * 10, 100)]
        await t.upsert(rows)
        await t.delete([{"id": v}])
        model |= {r["id"]: r for r in rows}
        model.pop(v, None)
        await t.lake(t.rows(model.values()))
    assert not all(s.raw_convertible for s in splits(server, t)), "there was nothing to merge"
    await until(lambda: all(s.raw_convertible for s in splits(server, t)))
    await t.lake(t.rows(model.values()))
    await until(lambda: "compacted" in server.log.read_text())
    assert await registered(client, t) == (snapshots(server, t)[-1], await t.ends())
    assert lake.snapshot(server.warehouse, t.name).commit_kind == "COMPACT"
    await t.upsert([user(1000)])
    await t.lake(t.rows([*model.values(), user(1000)]))
    await lake.nothing_dangling(server.warehouse, t.name)


async def test_a_table_that_came_to_rest_before_a_restart_is_merged_after_it(server, connect):
    server.start()
    t = await (await connect(server)).create(USERS, ["id"], lake=True, freshness="200ms")
    for v in range(3):
        await t.upsert([user(i, v) for i in range(20)])
        await t.lake(t.rows([user(i, v) for i in range(20)]))
    server.restart()
    assert not all(s.raw_convertible for s in splits(server, t)), "there was nothing to merge"
    await until(lambda: all(s.raw_convertible for s in splits(server, t)))
    await t.lake(t.rows([user(i, 2) for i in range(20)]))


async def test_a_table_under_load_stays_in_few_pieces(server, connect):
    server.start()
    t = await (await connect(server)).create(USERS, ["id"], lake=True, freshness="100ms")
    begin, v, most = time.monotonic(), 0, 0
    while time.monotonic() - begin < 6:
        await t.upsert([user(i, v) for i in range(v % 7, 50)])
        v += 1
        if v % 20 == 0:
            try:
                most = max(most, max(len(s.files) for s in splits(server, t)))
            except Exception:
                pass  # no snapshot yet
        await asyncio.sleep(0.02)
    assert lake.snapshot(server.warehouse, t.name).id > 20
    assert most <= 12, f"a read had to merge {most} files"


async def test_small_files_of_a_log_table_are_joined(server, connect):
    server.start()
    t = await (await connect(server)).create(EVENTS, lake=True, freshness="100ms")
    for i in range(25):
        await t.append([{"id": i, "note": "x"}])
        await t.lake(t.rows([{"id": k, "note": "x"} for k in range(i + 1)]))
    await until(lambda: len([f for s in splits(server, t) for f in s.files]) < 16)
    await t.lake(t.rows([{"id": k, "note": "x"} for k in range(25)]))


@pytest.mark.parametrize("pk", [None, ["id"]], ids=["log", "pk"])
async def test_snapshots_expire_with_their_files(server, connect, pk):
    """Ten stay, as Paimon has it; of those that go, nothing is left that nobody names."""
    server.options["weir.tier.expire.time"] = "2 s"
    server.start()
    client = await connect(server)
    t = await client.create(USERS, pk, lake=True, freshness="100ms")
    write = t.upsert if pk else t.append
    for v in range(15):
        await write([user(1, v)])
        await t.lake(t.rows([user(1, v)] if pk else [user(1, k) for k in range(v + 1)]))
    await until(lambda: len(snapshots(server, t)) <= 10)
    newest, _ = await registered(client, t)
    assert snapshots(server, t)[-1] == newest and snapshots(server, t)[0] > 1
    await t.lake(t.rows([user(1, 14)] if pk else [user(1, k) for k in range(15)]))
    await lake.nothing_dangling(server.warehouse, t.name)


async def test_options_of_a_table_for_expiry_win(server, connect):
    server.options["weir.tier.expire.time"] = "1 h"
    server.start()
    t = await (await connect(server)).create(USERS, ["id"], lake=True, freshness="100ms",
                                             custom_properties={"paimon.snapshot.time-retained": "1 s", "paimon.snapshot.num-retained.min": "2"})
    for v in range(8):
        await t.upsert([user(1, v)])
        await t.lake(t.rows([user(1, v)]))
    await until(lambda: len(snapshots(server, t)) == 2)
    await t.lake(t.rows([user(1, 7)]))


async def test_no_more_snapshots_stay_than_are_allowed(server, connect):
    server.options["weir.tier.expire.max-snapshots"] = "12"
    server.start()
    t = await (await connect(server)).create(EVENTS, lake=True, freshness="1ms")
    for i in range(60):
        await t.append([{"id": i, "note": "x"}])
        await t.lake(t.rows([{"id": k, "note": "x"} for k in range(i + 1)]))
    await until(lambda: len(snapshots(server, t)) < 12 + 20)
    await lake.nothing_dangling(server.warehouse, t.name)
