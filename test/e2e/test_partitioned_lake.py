"""Partitioned tables in the lake: pypaimon, `weir scan` and `weir verify` see the rows that were written, each once.

Numbers in names of tests are rows of the list of what users of such systems report."""
import asyncio
import itertools
import json
import random

import pyarrow as pa
import pytest

from harness import canon, lake
from harness.partitions import Partitions, text
from harness.types import TYPES
from harness.weir import NO, Weir, verify

EVENTS = pa.schema([("id", pa.int64()), ("region", pa.string()), ("day", pa.date32())])
USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("region", pa.string(), nullable=False), ("name", pa.string())])
NOT_EXISTS, SPEC_INVALID = 36, 43

# Every type that Fluss partitions by, with a maker of values that have a name.
PARTITION_TYPES = {
    "string": lambda r: "".join(r.choice("aZ9_-") for _ in range(r.randrange(1, 20))).replace("__", "x") or "x",
    "int": TYPES["int"][2], "bigint": TYPES["bigint"][2], "tinyint": TYPES["tinyint"][2], "smallint": TYPES["smallint"][2],
    "boolean": TYPES["boolean"][2], "date": TYPES["date"][2], "time3": TYPES["time3"][2],
    "timestamp0": TYPES["timestamp0"][2], "timestamp3": TYPES["timestamp3"][2], "timestamp6": TYPES["timestamp6"][2],
    "ltz3": TYPES["ltz3"][2], "ltz6": TYPES["ltz6"][2],
    "float": lambda r: r.choice([-1, 1]) * r.randrange(1, 4000) / 8, "double": lambda r: r.choice([-1, 1]) * r.randrange(1, 1 << 40) / 1024,
    "bytes": lambda r: r.randbytes(r.randrange(1, 12)), "binary4": lambda r: r.randbytes(4),
}


def scan(server, name, schema):
    """The union read, as canonical rows."""
    return [canon_of(r, schema) for r in Weir(server.bootstrap).rows("scan", name)]


def canon_of(r, schema):
    """A JSON row of weir in canonical form, as far as these tests need it: id and the other plain columns."""
    return {f.name: r[f.name] for f in schema if pa.types.is_integer(f.type) or pa.types.is_string(f.type)}


async def made(client, schema, keys, rows, **more):
    """A table for the lake with the partitions of the rows."""
    t = await client.create(schema, partition_keys=keys, lake=True, **more)
    p = Partitions(client.server, t.name)
    p.make_for(rows, schema, keys)
    return t, p


@pytest.mark.parametrize("is_pk", [False, True], ids=["log", "pk"])
@pytest.mark.parametrize("kind", PARTITION_TYPES)
async def test_1_values_of_each_type_land_once(client, kind, is_pk):
    """Hot and lake partition find each other: union set == written set == lake set, and no count is doubled."""
    r = random.Random(f"{kind}{is_pk}")
    arrow, make = TYPES[kind][0], PARTITION_TYPES[kind]
    schema = pa.schema([pa.field("id", pa.int32(), nullable=not is_pk), pa.field("p", arrow, nullable=not is_pk), ("note", pa.string())])
    values = list({text(v, arrow): v for v in (make(r) for _ in range(8))}.values())
    rows = [{"id": i, "p": r.choice(values), "note": f"n{i}"} for i in range(40)]
    t, _ = await made(client, schema, ["p"], rows, pk=["id", "p"] if is_pk else None, buckets=2, freshness="200ms")
    write = t.upsert if is_pk else t.append
    await write(rows[:25])
    await t.lake(t.rows(rows[:25]))
    await write(rows[25:])
    hot = Weir(client.server.bootstrap).rows("scan", t.name)  # in the log alone, or in the lake already
    await t.lake(t.rows(rows))
    union = Weir(client.server.bootstrap).rows("scan", t.name)
    assert sorted(map(json.dumps, union)) == sorted(map(json.dumps, hot)) and len(union) == 40
    verdict = await verify(client.server, t.name)
    assert verdict["equal"] and verdict["lake_rows"] == verdict["stream_rows"] == verdict["union_now_rows"] == 40
    assert verdict["kept_rows"] == 0


@pytest.mark.parametrize("order", list(itertools.permutations(["p", "a", "b"])), ids="".join)
async def test_4_the_partition_key_may_stand_anywhere(client, order):
    """Keys are found by name: in the primary key and in the row, in every order."""
    kinds = {"p": pa.string(), "a": pa.int32(), "b": pa.string()}
    fields = [pa.field(n, kinds[n], nullable=False) for n in reversed(order)]
    schema = pa.schema([fields[0], pa.field("v", pa.int64()), *fields[1:]])
    rows = [{"p": f"p{i % 3}", "a": i % 4, "b": f"b{i % 5}", "v": i} for i in range(60)]
    t, _ = await made(client, schema, ["p"], rows, pk=list(order), buckets=2, freshness="200ms")
    await t.upsert(rows[:40])
    await t.lake(t.rows(rows[:40]))
    await t.upsert([{**r, "v": r["v"] + 1000} for r in rows[20:60]])
    want = rows[:20] + [{**r, "v": r["v"] + 1000} for r in rows[20:60]]
    assert canon.differ(scan(client.server, t.name, schema), t.rows(want)) is None
    await t.lake(t.rows(want))
    assert canon.differ(scan(client.server, t.name, schema), t.rows(want)) is None
    assert (await verify(client.server, t.name))["equal"]


async def test_5_buckets_and_partitions_without_data_end_the_read(client):
    t = await client.create(EVENTS, buckets=8, partition_keys=["region"], bucket_keys=["id"], lake=True, freshness="200ms")
    weir = Weir(client.server.bootstrap)
    assert weir.rows("scan", t.name) == []
    p = Partitions(client.server, t.name)
    for region in "abc":
        p.create({"region": region})
    assert weir.rows("scan", t.name) == []
    assert (await verify(client.server, t.name))["equal"]
    await t.append([{"id": 7, "region": "b", "day": None}] * 3)
    await t.lake(t.rows([{"id": 7, "region": "b"}] * 3))
    assert len(weir.rows("scan", t.name)) == 3
    assert (await verify(client.server, t.name))["union_now_rows"] == 3
    _, offsets = p.offsets()
    assert [(pid, o) for (pid, _), o in offsets.items() if o] == [(p.list()["b"], 3)]  # of buckets without rows it is 0


async def test_62_null_and_empty_values_are_no_partitions(client):
    """As in Fluss: a partition has a value that is a name."""
    t = await client.create(EVENTS, partition_keys=["region"], lake=True)
    weir = Weir(client.server.bootstrap)
    for row, says in (({"id": 1, "region": None}, "region is null"), ({"id": 1, "region": ""}, "PARTITION"),
                      ({"id": 1, "region": "a b"}, "PARTITION"), ({"id": 1, "region": "a/b"}, "PARTITION")):
        weir.run("put", t.name, json.dumps({"id": 0, "region": "good"}), json.dumps(row), code=None)
        assert says in weir.errors and weir.code != 0, weir.errors
    assert len(weir.rows("scan", t.name)) == 4  # what stood before the bad row
    assert list(Partitions(client.server, t.name).list()) == ["good"]


async def test_two_partition_columns_make_two_directories(client, shared):
    rows = [{"id": i, "region": f"r{i % 2}", "day": TYPES["date"][2](random.Random(i % 3))} for i in range(30)]
    t, p = await made(client, EVENTS, ["region", "day"], rows, buckets=3, bucket_keys=["id"])
    await t.append(rows)
    await t.lake(t.rows(rows))
    table = lake.open_table(shared.warehouse, t.name)
    assert table.partition_keys == ["region", "day"] and table.options.options.to_map()["partition.legacy-name"] == "false"
    tab = lake.read_arrow(shared.warehouse, t.name)
    assert len(p.list()) == len({(r["region"], r["day"]) for r in rows}) and tab.num_rows == 30
    snapshot_id, offsets = p.offsets(readable=True)
    ends = {}
    for row in lake.read(shared.warehouse, t.name, t.schema, system=True):
        pid = p.list()[f"{row['region']}${row['day']}"]
        ends[pid, row["__bucket"]] = max(ends.get((pid, row["__bucket"]), 0), row["__offset"] + 1)
    assert {bucket: o for bucket, o in offsets.items() if o} == ends and snapshot_id >= 1


async def test_partitions_come_and_go_while_rows_are_tiered(client):
    """New ones land by themselves; of those dropped the lake keeps what it has, and the union read shows it."""
    t = await client.create(USERS, ["id", "region"], buckets=2, partition_keys=["region"], lake=True, freshness="200ms")
    weir, p = Weir(client.server.bootstrap), Partitions(client.server, t.name)
    kept, rows = [], []
    for n in range(5):
        new = [{"id": i, "region": f"r{n}", "name": f"{n}-{i}"} for i in range(20)]
        p.make_for(new, USERS, ["region"])
        await t.upsert(new)
        rows += new
        if n % 2:
            await t.lake(t.rows(rows))
            p.drop({"region": f"r{n - 1}"})
            kept += [r for r in rows if r["region"] == f"r{n - 1}"]
    await t.lake(t.rows(rows))
    assert canon.differ(scan(client.server, t.name, USERS), rows) is None
    assert canon.differ([canon_of(r, USERS) for r in weir.rows("scan", t.name, "--hot")], [r for r in rows if r not in kept]) is None
    verdict = await verify(client.server, t.name)
    assert verdict["equal"] and verdict["kept_rows"] == len(kept) and verdict["lake_rows"] == len(rows) - len(kept)
    assert weir.rows("tables", t.name)[0]["rows"] == len(rows) - len(kept)
    assert weir.rows("get", t.name, '{"id": 3, "region": "r3"}') == [{"id": 3, "region": "r3", "name": "3-3"}]
    weir.rows("get", t.name, '{"id": 3, "region": "r0"}', code=NO)


async def test_a_drop_during_a_round_harms_nobody(client, shared):
    """Rows of a partition that is dropped while they are read land or do not; the others land, and the round does not fail."""
    t = await client.create(EVENTS, buckets=2, partition_keys=["region"], lake=True, freshness="50ms")
    p, rows, gone = Partitions(client.server, t.name), [], []
    for n in range(12):
        new = [{"id": n * 50 + i, "region": f"r{n % 4}x{n // 4}", "day": None} for i in range(50)]
        p.make_for(new, EVENTS, ["region"])
        await t.append(new)
        if n % 2:
            p.drop({"region": new[0]["region"]})
            gone += new
        else:
            rows += new
    weir = Weir(client.server.bootstrap)
    await asyncio.to_thread(weir.run, "wait", t.name)
    have = lake.read(shared.warehouse, t.name, t.schema)
    assert canon.differ([r for r in have if r["id"] // 50 % 2 == 0], t.rows(rows)) is None
    assert not [r for r in have if have.count(r) > 1] and len(have) <= len(rows) + len(gone)
    assert weir.rows("tables", t.name)[0]["state"] != "failing"
    assert (await verify(client.server, t.name))["equal"]


async def test_111_reads_go_on_while_partitions_come_and_go(client):
    t = await client.create(EVENTS, buckets=2, partition_keys=["region"], lake=True, freshness="200ms")
    weir, p = Weir(client.server.bootstrap), Partitions(client.server, t.name)
    tail = asyncio.create_task(asyncio.to_thread(weir.rows, "tail", t.name, "--from", "earliest", "--limit", "400", "--deadline", "30s"))
    readers = Weir(client.server.bootstrap)
    for n in range(8):
        new = [{"id": n * 50 + i, "region": f"r{n}", "day": None} for i in range(50)]
        p.make_for(new, EVENTS, ["region"])
        await t.append(new)
        if n >= 6:
            p.drop({"region": f"r{n - 6}"})
        found = await asyncio.to_thread(readers.rows, "scan", t.name)
        assert len(found) >= 50 and len({r["id"] for r in found}) == len(found)
        await asyncio.sleep(0.3 if n < 6 else 0)
    seen = await tail
    assert len(seen) == len({r["id"] for r in seen}) and len(seen) >= 300


async def test_a_partition_made_again_is_told_from_its_first_life(client, shared):
    """The lake has rows of both lives under one name: the union read shows them as Fluss does, verify counts them apart."""
    log, p = await made(client, EVENTS, ["region"], [{"region": "a"}, {"region": "b"}], freshness="200ms")
    pk, q = await made(client, USERS, ["region"], [{"region": "a"}], pk=["id", "region"], freshness="200ms")
    old = [{"id": i, "region": "a", "day": None} for i in range(10)] + [{"id": 99, "region": "b", "day": None}]
    old_users = [{"id": i, "region": "a", "name": "old"} for i in range(10)]
    await log.append(old)
    await pk.upsert(old_users)
    await log.lake(log.rows(old))
    await pk.lake(pk.rows(old_users))
    p.drop({"region": "a"})
    q.drop({"region": "a"})
    verdict = await verify(client.server, log.name)
    assert verdict["equal"] and (verdict["lake_rows"], verdict["kept_rows"]) == (1, 10)
    await asyncio.to_thread(again, client, log, pk, p, q)
    weir = Weir(client.server.bootstrap)
    both = [r["id"] for r in weir.rows("scan", log.name)]
    assert sorted(both) == sorted([*range(10), 99, 1000, 1001])  # rows of a log do not replace each other
    for t, kept in ((log, 12), (pk, 11)):
        await asyncio.to_thread(weir.run, "wait", t.name)
        verdict = await verify(client.server, t.name)
        assert verdict["equal"] and verdict["kept_rows"] == kept, verdict
    assert {r["id"]: r["name"] for r in weir.rows("scan", pk.name)} == {**{i: "old" for i in range(10)}, 3: "new", 50: "new"}


def again(client, log, pk, p, q):
    weir = Weir(client.server.bootstrap)
    weir.run("put", log.name, *(json.dumps({"id": i, "region": "a"}) for i in (1000, 1001)))
    weir.run("put", pk.name, *(json.dumps({"id": i, "region": "a", "name": "new"}) for i in (3, 50)))


@pytest.mark.own
async def test_31_rows_that_go_before_they_reach_the_lake_are_reported(server, connect):
    server.options["weir.tier.enabled"] = "false"
    client = await connect(server.start())
    t, p = await made(client, EVENTS, ["region"], [{"region": "a"}, {"region": "b"}])
    await t.append([{"id": i, "region": "a", "day": None} for i in range(7)])
    p.drop({"region": "a"})
    p.drop({"region": "b"})
    lines = [line for line in server.log.read_text().splitlines() if "partition_dropped" in line]
    assert len(lines) == 1 and "partition=a" in lines[0] and "not_in_lake=7" in lines[0], lines


@pytest.mark.own
@pytest.mark.parametrize("step, is_pk", [("paimon.manifests", False), ("paimon.published", True), ("tier.committed", False), ("keep.committed", True)])
async def test_a_kill_at_a_step_harms_no_partition(server, step, is_pk):
    """After the restart each row is in the lake once, a partition that was made in between too, and no file lies about."""
    server.options["weir.test.end-at"] = f"{step}:2"
    weir = Weir(server.start().bootstrap)
    key = ", PRIMARY KEY (id, p) NOT ENFORCED" if is_pk else ""
    weir.run("sql", f"CREATE TABLE killed (id INT NOT NULL, p STRING NOT NULL, n INT{key}) PARTITIONED BY (p) WITH ('bucket.num' = '2', "
                    "'table.datalake.enabled' = 'true', 'table.datalake.freshness' = '100ms')")
    acked, n = {}, 0
    while server.process.poll() is None and n < 2000:
        rows = [{"id": i, "p": f"p{(n + i) % 3}x{n // 20}", "n": n * 10 + i} for i in range(10)]
        await asyncio.to_thread(weir.run, "put", "killed", "--deadline", "3s", stdin="\n".join(map(json.dumps, rows)), code=None)
        if weir.code == 0:
            acked.update({(r["id"], r["p"]) if is_pk else r["n"]: r for r in rows})
        n += 1
    assert server.process.wait(20) != 0 and acked
    del server.options["weir.test.end-at"]
    server.start()
    weir.run("put", "killed", json.dumps({"id": 1, "p": "after", "n": -1}))
    verdict = await verify(server, "killed")
    assert verdict["equal"] and verdict["kept_rows"] == 0
    held = {json.dumps(r) for r in weir.rows("scan", "killed$lake")}
    if is_pk:  # a later put that was not acknowledged may be the one that counts
        assert {(r["id"], r["p"]) for r in acked.values()} <= {(r["id"], r["p"]) for r in map(json.loads, held)}
    else:
        assert {json.dumps(r) for r in acked.values()} <= held
    await lake.nothing_dangling(server.warehouse, "fluss.killed")


def test_sql_knows_partitions(shared):
    weir = Weir(shared.bootstrap)
    weir.run("sql", "CREATE TABLE visits (id INT, region STRING, day DATE) PARTITIONED BY (region, day); CREATE TABLE plain (id INT)")
    weir.run("sql", "ALTER TABLE visits ADD PARTITION (region = 'us', day = '2024-01-01') PARTITION (day = '2024-01-02', region = 'us')")
    weir.run("sql", "ALTER TABLE visits ADD IF NOT EXISTS PARTITION (region = 'us', day = '2024-01-01')")
    weir.run("sql", "ALTER TABLE visits ADD PARTITION (region = 'eu', day = '2024-01-01')")
    us = [{"partition": "region=us/day=2024-01-01"}, {"partition": "region=us/day=2024-01-02"}]
    assert weir.rows("sql", "SHOW PARTITIONS visits") == us + [{"partition": "region=eu/day=2024-01-01"}]
    assert weir.rows("sql", "SHOW PARTITIONS visits PARTITION (region = 'us')") == us
    weir.run("sql", "ALTER TABLE visits DROP PARTITION (region = 'us', day = '2024-01-02'), PARTITION (region = 'eu', day = '2024-01-01')")
    weir.run("sql", "ALTER TABLE visits DROP IF EXISTS PARTITION (region = 'xx', day = '2024-01-02')")
    assert weir.rows("sql", "SHOW PARTITIONS visits") == us[:1]
    for bad in ("ALTER TABLE visits ADD PARTITION (region = 'us', day = '2024-01-01')", "ALTER TABLE visits ADD PARTITION (region = 'us')",
                "ALTER TABLE visits ADD PARTITION (region = 'us', day = 'today')", "SHOW PARTITIONS visits PARTITION (planet = 'x')",
                "ALTER TABLE visits DROP PARTITION (region = 'xx', day = '2024-01-02')", "SHOW PARTITIONS plain"):
        weir.run("sql", bad, code=None)
        assert weir.code != 0 and "PARTITION" in weir.errors, (bad, weir.errors)


def test_more_than_fits_a_name_is_refused(shared):
    weir = Weir(shared.bootstrap)
    weir.run("sql", "CREATE TABLE long_names (id INT, a STRING, b STRING) PARTITIONED BY (a, b)")
    weir.run("put", "long_names", json.dumps({"id": 1, "a": "x" * 200, "b": "y" * 200}), code=None)
    assert weir.code != 0 and "PARTITION" in weir.errors
