"""Rows land in the lake by themselves, and pypaimon, with no server of ours, reads the same rows."""
import asyncio
import json
import pathlib
import random
import subprocess
import time

import fluss
import pyarrow as pa
import pytest

from exceptions import by_merging_pypaimon
from harness import lake
from harness.client import EXTERNAL
from harness.server import BINARY
from harness.types import TYPES, nested

EVENTS = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("ts", pa.timestamp("us"))])
USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string()), ("score", pa.int64())])


def event(i):
    return {"id": i, "kind": None if i % 7 == 6 else f"k{i % 4}", "ts": TYPES["timestamp6"][2](random.Random(i))}


def user(i, v=0):
    return {"id": i, "name": f"user-{i}-v{v}", "score": i * 10 + v}


async def offsets_in_lake(client, t):
    """(snapshot id, bucket -> offset) that the server has registered."""
    s = await client.admin.get_latest_lake_snapshot(t.path)
    return s.snapshot_id, {b.bucket_id: o for b, o in s.table_buckets_offset.items()}


@pytest.mark.own  # a stock server leaves them out, and a bounded read of Flink 0.9.1 then never ends
@pytest.mark.parametrize("key", [None, ["id"]], ids=["log", "pk"])
async def test_a_lake_snapshot_has_an_offset_for_buckets_without_rows(client, key):
    t = await client.create(USERS, key, buckets=5, lake=True)
    await (t.upsert if key else t.append)([user(1)])
    await t.lake(t.rows([user(1)]))
    ends = await t.ends()
    assert (await offsets_in_lake(client, t))[1] == ends and sorted(ends.values()) == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("keys", [None, ["id"]], ids=["no-bucket-key", "bucket-key"])
async def test_a_log_table_lands(client, shared, keys):
    t = await client.create(EVENTS, buckets=3, bucket_keys=keys, lake=True)
    rows = []
    for n in (20, 5, 40):
        new = [event(len(rows) + i) for i in range(n)]
        await t.append(new)
        rows += new
        await t.lake(t.rows(rows))
    changes = {(c.bucket, c.offset): c for c in await t.scan()}
    for r in lake.read(shared.warehouse, t.name, t.schema, system=True):
        c = changes.pop((r.pop("__bucket"), r.pop("__offset")))
        assert r.pop("__timestamp") == c.time * 10**6 and r == c.row
    assert not changes


async def test_a_primary_key_table_lands(client, shared):
    t = await client.create(USERS, ["id"], buckets=2, lake=True)
    model = {}

    async def round_of(upserts, deletes):
        await t.upsert(upserts)
        model.update({r["id"]: r for r in upserts})
        if deletes:
            await t.delete([{"id": i} for i in deletes])
            for i in deletes:
                model.pop(i, None)
        await t.lake(t.rows(model.values()))
    await round_of([user(i) for i in range(50)], [])
    await round_of([user(i, 1) for i in range(0, 60, 3)], [1, 2, 999])
    await round_of([user(1, 2)], [0, 3])
    await round_of([user(100), user(100, 1)], [100])
    lake_table = lake.open_table(shared.warehouse, t.name)
    assert lake_table.primary_keys == ["id"]
    assert [f.name for f in lake_table.fields] == ["id", "name", "score", *lake.SYSTEM]


async def test_the_registered_offsets_are_those_of_the_rows(client, shared):
    """V: the rows of the snapshot are exactly those below the offsets that the server gives for it."""
    t = await client.create(EVENTS, buckets=2, bucket_keys=["id"], lake=True)
    for n in range(3):
        await t.append([event(n * 30 + i) for i in range(30)])
        await t.lake(t.rows([event(i) for i in range((n + 1) * 30)]))
    ends, deadline = await t.ends(), time.monotonic() + 30
    while True:  # the commit in the lake comes just before its registration
        snapshot_id, offsets = await offsets_in_lake(client, t)
        if offsets == ends or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    assert offsets == ends
    assert lake.snapshot(shared.warehouse, t.name).id == snapshot_id
    assert "fluss-offsets" in lake.snapshot(shared.warehouse, t.name).properties


@pytest.mark.parametrize("pk", [None, ["id"]], ids=["log", "pk"])
async def test_all_types_land(client, pk):
    r = random.Random(21)
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), *((f"c_{n}", t[0]) for n, t in TYPES.items())])
    t = await client.create(schema, pk, lake=True)
    most = max(len(x[1]) for x in TYPES.values())
    rows = [{"id": i, **{f"c_{n}": (x[1] + [None])[i % (len(x[1]) + 1)] for n, x in TYPES.items()}} for i in range(most + 1)]
    rows += [{"id": 1000 + i, **{f"c_{n}": None if r.random() < 0.1 else x[2](r) for n, x in TYPES.items()}} for i in range(50)]
    await (t.upsert(rows) if pk else t.append(rows))
    await t.lake(t.rows(rows), cut=by_merging_pypaimon(schema) if pk else lambda x: x)


@pytest.mark.parametrize("pk", [None, ["id"]], ids=["log", "pk"])
async def test_nested_types_land(client, pk):
    r = random.Random(22)
    kinds = [nested(r, depth=3) for _ in range(12)]
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), *((f"c{i}", k[1]) for i, k in enumerate(kinds))])
    t = await client.create(schema, pk, lake=True)
    rows = [{"id": i, **{f"c{n}": None if r.random() < 0.2 else k[2](r) for n, k in enumerate(kinds)}} for i in range(30)]
    await (t.upsert(rows) if pk else t.append(rows))
    await t.lake(t.rows(rows), cut=by_merging_pypaimon(schema) if pk else lambda x: x)


async def test_no_file_is_left_over(client, shared):
    t = await client.create(USERS, ["id"], lake=True)
    for v in range(4):
        await t.upsert([user(i, v) for i in range(20)])
        await t.lake(t.rows([user(i, v) for i in range(20)]))
    await lake.nothing_dangling(shared.warehouse, t.name)


async def test_a_name_whose_lake_table_has_rows_is_not_taken_again(client):
    t = await client.create(EVENTS, lake=True)
    await t.append([event(1)])
    await t.lake(t.rows([event(1)]))
    await client.admin.drop_table(t.path)
    properties = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}
    with pytest.raises(fluss.FlussError) as e:
        await client.admin.create_table(t.path, fluss.TableDescriptor(fluss.Schema(EVENTS), bucket_count=1, properties=properties))
    assert e.value.error_code == fluss.ErrorCode.LAKE_TABLE_ALREADY_EXIST
    assert not await client.admin.table_exists(t.path)


async def test_a_name_whose_lake_table_is_empty_is_taken_again(client):
    t = await client.create(EVENTS, lake=True)
    await client.admin.drop_table(t.path)
    properties = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}
    await client.admin.create_table(t.path, fluss.TableDescriptor(fluss.Schema(EVENTS), bucket_count=1, properties=properties))
    await client.leaders(t.path, 1)
    again = await client.open(t.path, EVENTS)
    await again.append([event(5)])
    await again.lake(again.rows([event(5)]))


async def test_a_table_without_the_lake_stays_out_of_it(client, shared):
    t = await client.create(EVENTS)
    await t.append([event(1)])
    await asyncio.sleep(1.5)
    assert not list(pathlib.Path(shared.warehouse).glob(f"*/{t.path.table_name}"))


@pytest.mark.own
async def test_the_first_change_after_a_quiet_spell_lands_at_once(client):
    """Whatever the freshness: the table was at rest, so nothing is gained by waiting."""
    t = await client.create(EVENTS, lake=True, freshness="1 h")
    await t.append([event(0)])
    assert await t.lake(t.rows([event(0)]), seconds=10) < 5


@pytest.mark.own
async def test_freshness_is_kept_under_steady_writes(client, shared):
    """A row is in the lake one freshness after its acknowledgement, and a table commits about once a freshness."""
    t = await client.create(EVENTS, lake=True, freshness="2s")
    rows, begin, late = [], time.monotonic(), 0.0
    acknowledged = []  # (time, how many rows)
    while time.monotonic() - begin < 8:
        rows.append(event(len(rows)))
        await t.append(rows[-1:])
        acknowledged.append((time.monotonic(), len(rows)))
        if len(rows) % 10 == 0:
            try:
                held = len(await asyncio.to_thread(lake.read, shared.warehouse, t.name, EVENTS))
            except Exception:
                held = 0  # no snapshot yet
            missing = [at for at, n in acknowledged if n > held]
            late = max(late, time.monotonic() - missing[0] if missing else 0)
        await asyncio.sleep(0.05)
    await t.lake(t.rows(rows))
    assert late < 2 + 3, f"a row waited {late:.1f} s at a freshness of 2 s"
    snapshots = lake.snapshot(shared.warehouse, t.name).id
    assert snapshots <= 2 * 8 / 2 + 4, f"{snapshots} snapshots in 8 s at a freshness of 2 s"


@pytest.mark.own
async def test_tables_with_nothing_new_cost_nothing(server, connect):
    server.start()
    client = await connect(server)
    tables = [await client.create(EVENTS, lake=True) for _ in range(30)]
    for t in tables:
        await t.append([event(1)])
    for t in tables:
        await t.lake(t.rows([event(1)]))
    await asyncio.sleep(2)
    before, snapshots = server.cpu_seconds(), [lake.snapshot(server.warehouse, t.name).id for t in tables]
    await asyncio.sleep(4)
    used = server.cpu_seconds() - before
    assert used < 0.4, f"{used:.2f} s of processor time in 4 s at rest"
    assert [lake.snapshot(server.warehouse, t.name).id for t in tables] == snapshots


@pytest.mark.own
async def test_a_broken_lake_table_stops_no_other_and_comes_back(server, connect):
    """The snapshot directory of one table is a file for a while: that table waits with a reason, the other goes on."""
    server.start()
    client = await connect(server)
    broken, fine = await client.create(EVENTS, lake=True, name="broken"), await client.create(EVENTS, lake=True, name="fine")
    await broken.append([event(0)])
    await broken.lake(broken.rows([event(0)]))
    directory = pathlib.Path(server.warehouse) / "fluss.db" / broken.path.table_name / "snapshot"
    aside = directory.with_name("aside")
    directory.rename(aside)
    directory.write_text("not a directory")
    await broken.append([event(1)])
    rows = []
    for i in range(5):
        rows.append(event(i))
        await fine.append(rows[-1:])
        await fine.lake(fine.rows(rows), seconds=15)
    assert await broken.ends() == {0: 2}, "the log takes rows all the same"
    directory.unlink()
    aside.rename(directory)
    await broken.lake(broken.rows([event(0), event(1)]))


@pytest.mark.own
async def test_a_backlog_from_before_the_restart_lands(server, connect):
    server.start()
    t = await (await connect(server)).create(EVENTS, buckets=2, lake=True)
    rows = [event(i) for i in range(5000)]
    await t.append(rows)
    server.restart()
    t = await (await connect(server)).open(t.path, EVENTS)
    await t.lake(t.rows(rows))
    assert not EXTERNAL


def tables_of(server, name):
    """What `weir tables` tells of a table."""
    out = subprocess.run([BINARY, "tables", name, "--bootstrap", server.bootstrap, "-o", "jsonl"], capture_output=True, text=True, timeout=30)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


@pytest.mark.own
async def test_rows_in_the_lake_are_known_after_a_restart(server, connect):
    """Nothing is new, so no round comes to tell the server how many there are."""
    server.start()
    t = await (await connect(server)).create(USERS, ["id"], buckets=2, lake=True)
    await t.upsert([user(i) for i in range(5)])
    await t.lake(t.rows([user(i) for i in range(5)]))
    await t.delete([{"id": 3}])
    await t.lake(t.rows([user(i) for i in range(5) if i != 3]))
    server.restart()
    told = tables_of(server, t.name)
    assert (told["rows"], told["lake_rows"], told["lag_rows"], told["state"]) == (4, 4, 0, "idle")


@pytest.mark.own
async def test_why_a_table_does_not_tier_is_told_with_what_helps(server, connect):
    server.start()
    t = await (await connect(server)).create(EVENTS, lake=True)
    await t.append([event(0), event(1)])
    await t.lake(t.rows([event(0), event(1)]))
    for _ in range(50):
        told = tables_of(server, t.name)
        if told["state"] == "idle":
            break
        await asyncio.sleep(0.1)
    assert (told["rows"], told["lake_rows"], told["lag_rows"], told["state"], told["why"]) == (2, 2, 0, "idle", None)
    directory = pathlib.Path(server.warehouse) / "fluss.db" / t.path.table_name / "bucket-0"
    aside = directory.with_name("aside")
    directory.rename(aside)
    directory.write_text("not a directory")
    await t.append([event(2)])
    for _ in range(100):
        told = tables_of(server, t.name)
        if told["state"] == "failing":
            break
        await asyncio.sleep(0.1)
    assert told["state"] == "failing" and told["lag_rows"] == 1
    assert told["why"].startswith("E-LAKE-DIR: ") and "bucket-0" in told["why"] and told["why"].endswith("; let the user that runs weir read and write it; weir tries again by itself")
    directory.unlink()
    aside.rename(directory)
    await t.lake(t.rows([event(i) for i in range(3)]))


@pytest.mark.own
async def test_a_lake_directory_that_cannot_be_made_refuses_tables_with_what_helps(server, connect):
    server.options["datalake.paimon.warehouse"] = str(server.directory / "weir.log" / "lake")
    server.start()
    client = await connect(server)
    with pytest.raises(fluss.FlussError) as e:
        await client.create(EVENTS, lake=True)
    assert "weir.log" in str(e.value) and "let the user that runs weir" in str(e.value)
    t = await client.create(EVENTS)
    await t.append([event(0)])
    assert len(await t.scan()) == 1


@pytest.mark.own
@pytest.mark.parametrize("option, value", [("metastore", "hive"), ("warehouse", "s3://bucket/lake"), ("warehouse", "lake"), ("uri", "thrift://x")])
def test_a_catalog_that_weir_cannot_do_is_refused_at_the_start(server, option, value):
    out = subprocess.run([BINARY, "server", "--data-dir", str(server.data), "--listen", "127.0.0.1:0", "-D", "weir.http.listen=127.0.0.1:0",
                          "-D", f"datalake.paimon.{option}={value}"], capture_output=True, text=True, timeout=30)
    assert out.returncode != 0 and f"datalake.paimon.{option}" in out.stderr, out.stderr
