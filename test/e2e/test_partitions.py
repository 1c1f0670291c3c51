"""Partitioned tables: made, listed, dropped, written and read; limits, restarts, kills."""
import asyncio
import concurrent.futures
import datetime
import re
import time

import fluss
import pyarrow as pa
import pytest

from harness import client as clients
from harness.partitions import Partitions
from harness.server import Server
from harness.wire import WireError

EVENTS = pa.schema([("id", pa.int64()), ("region", pa.string()), ("day", pa.string())])
USERS = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("region", pa.string(), nullable=False), ("name", pa.string())])
UNKNOWN_TABLE_OR_BUCKET, INVALID_TABLE = 21, 15
NOT_EXISTS, NOT_PARTITIONED, ALREADY_EXISTS, SPEC_INVALID, TOO_MANY = 36, 37, 42, 43, 45


def refused(code, call, *args, **more):
    with pytest.raises(WireError) as e:
        call(*args, **more)
    assert e.value.code == code, e.value


async def events(client, keys=("region", "day"), buckets=2):
    t = await client.create(EVENTS, buckets=buckets, partition_keys=list(keys))
    return t, Partitions(client.server, t.name)


async def scan_partitions(t, ids, seconds=30):
    """All rows of the partitions, until each bucket's end as of now."""
    scanner = await t.handle.new_scan().create_log_scanner()
    ends = {}
    for name, pid in ids.items():
        offsets = await t.client.admin.list_partition_offsets(t.path, partition_name=name, bucket_ids=list(range(t.buckets)),
                                                              offset_spec=fluss.OffsetSpec.latest())
        ends |= {(pid, b): e for b, e in offsets.items() if e}
        for b in range(t.buckets):
            scanner.subscribe_partition(partition_id=pid, bucket_id=b, start_offset=0)
    out, deadline = [], time.monotonic() + seconds
    while ends and time.monotonic() < deadline:
        records = await scanner.poll(200)
        for bucket, found in records.items():
            out += [(bucket.partition_id, r) for r in found]
            if found and found[-1].offset + 1 >= ends.get((bucket.partition_id, bucket.bucket_id), 1 << 62):
                ends.pop((bucket.partition_id, bucket.bucket_id))
    assert not ends, f"not read to the end: {ends}"
    return out


async def test_partitions_are_listed_by_some_of_their_keys(client):
    _, p = await events(client)
    assert p.list() == {}
    for region in ("us", "eu"):
        for day in ("2024-01-01", "2024-01-02", "2024-01-03"):
            p.create({"day": day, "region": region})  # the order of the keys is free
    assert len(p.list()) == 6
    assert list(p.list(region="us")) == ["us$2024-01-01", "us$2024-01-02", "us$2024-01-03"]
    assert list(p.list(day="2024-01-02")) == ["us$2024-01-02", "eu$2024-01-02"]
    assert list(p.list(day="2024-01-02", region="eu")) == ["eu$2024-01-02"]
    assert p.list(region="none") == {}
    refused(SPEC_INVALID, p.list, planet="earth")
    ids = list(p.list().values())
    assert len(set(ids)) == 6


async def test_names_are_taken_once_and_free_again_after_a_drop(client):
    _, p = await events(client)
    us = {"region": "us", "day": "1"}
    refused(NOT_EXISTS, p.drop, us)
    p.drop(us, ignore=True)
    p.create(us)
    before = p.list()["us$1"]
    refused(ALREADY_EXISTS, p.create, us)
    p.create(us, ignore=True)
    assert p.list() == {"us$1": before}
    p.drop(us)
    assert p.list() == {}
    p.create(us)
    assert p.list()["us$1"] > before


@pytest.mark.parametrize("values", [{}, {"region": "us"}, {"region": "us", "day": "1", "hour": "2"}, {"region": "us", "hour": "2"},
                                    {"region": "", "day": "1"}, {"region": "a$b", "day": "1"}, {"region": "a/b", "day": "1"},
                                    {"region": "..", "day": "1"}, {"region": "__historical__", "day": "1"}, {"region": "ü", "day": "1"},
                                    {"region": "a b", "day": "1"}, {"region": "x" * 201, "day": "1"}, {"region": "x" * 200, "day": "y" * 200}],
                         ids=lambda v: "-".join(x[:12] for x in v.values()) or "none")
async def test_what_is_no_partition_is_refused(client, values):
    _, p = await events(client)
    refused(SPEC_INVALID, p.create, values)
    assert p.list() == {}


async def test_a_writer_is_refused_late_enough_to_hear_it(client):
    """The Java writer queues its row right after it asked for the row's partition; a refusal that is back before that fails
    nothing, and the writer waits for ever."""
    _, p = await events(client)
    begin = time.monotonic()
    refused(SPEC_INVALID, p.create, {"region": "us"}, ignore=True)
    assert time.monotonic() - begin >= 0.1
    p.create({"region": "us", "day": "1"}, ignore=True)
    assert list(p.list()) == ["us$1"]


async def test_tables_without_partitions_have_none(client):
    t = await client.create(EVENTS)
    p = Partitions(client.server, t.name)
    refused(NOT_PARTITIONED, p.create, {"region": "us"})
    refused(NOT_PARTITIONED, p.drop, {"region": "us"})
    refused(NOT_PARTITIONED, p.list)
    refused(NOT_EXISTS, p.metadata, names=["us"])


async def test_metadata_names_the_buckets_of_partitions(client):
    t, p = await events(client, buckets=3)
    p.create({"region": "us", "day": "1"})
    pid = p.list()["us$1"]
    for answer in (p.metadata(names=["us$1"]), p.metadata(ids=[pid])):
        assert answer["table_metadata"][0].get("bucket_metadata", []) == []
        (found,) = answer["partition_metadata"]
        assert (found["table_id"], found["partition_name"], found["partition_id"]) == (t.id, "us$1", pid)
        assert [b["bucket_id"] for b in found["bucket_metadata"]] == [0, 1, 2]
        assert all("leader_id" in b for b in found["bucket_metadata"])
    with pytest.raises(WireError, match=re.escape(f"Table partition '{t.name}(p=us$2)' does not exist.")) as e:  # Fluss's words
        p.metadata(names=["us$1", "us$2"])
    assert e.value.code == NOT_EXISTS
    refused(NOT_EXISTS, p.metadata, ids=[pid + 1000])


async def test_rows_stay_in_their_partition(client):
    t, p = await events(client)
    rows = [{"id": i, "region": f"r{i % 3}", "day": str(i % 2)} for i in range(300)]
    for r in {(r["region"], r["day"]) for r in rows}:
        p.create({"region": r[0], "day": r[1]})
    await t.append(rows)
    names = {pid: name for name, pid in p.list().items()}
    seen = await scan_partitions(t, p.list())
    assert sorted(r.row["id"] for _, r in seen) == list(range(300))
    for pid, r in seen:
        assert names[pid] == f"{r.row['region']}${r.row['day']}"


async def test_a_key_lives_in_each_partition_apart(client):
    t = await client.create(USERS, pk=["id", "region"], buckets=2, partition_keys=["region"])
    p = Partitions(client.server, t.name)
    for region in ("us", "eu"):
        p.create({"region": region})
    await t.upsert([{"id": i, "region": r, "name": f"{r}-{i}"} for i in range(20) for r in ("us", "eu")])
    await t.upsert([{"id": 3, "region": "us", "name": "again"}])
    await t.delete([{"id": 4, "region": "us"}])
    found = await t.lookup([{"id": i, "region": r} for i in (3, 4) for r in ("us", "eu")])
    assert [f and f["name"] for f in found] == ["again", "eu-3", None, "eu-4"]
    assert await t.lookup([{"id": 3, "region": "nowhere"}]) == [None]


TYPES = [
    (pa.string(), "a_B-9", "a_B-9"), (pa.bool_(), True, "true"), (pa.int8(), -7, "-7"), (pa.int16(), 300, "300"),
    (pa.int32(), -2147483648, "-2147483648"), (pa.int64(), 1 << 40, "1099511627776"), (pa.date32(), datetime.date(2024, 2, 29), "2024-02-29"),
    (pa.time32("ms"), datetime.time(1, 2, 3, 4000), "01-02-03_004"), (pa.binary(), b"\x00\xff", "00ff"),
    (pa.float32(), 1.5, "1_5"), (pa.float64(), -0.25, "-0_25"),
    (pa.timestamp("us"), datetime.datetime(2024, 2, 29, 12, 30, 45, 123000), "2024-02-29-12-30-45_123"),
    (pa.timestamp("us", tz="UTC"), datetime.datetime(2024, 2, 29, 12, 30, 45, 123000), "2024-02-29-12-30-45_123"),
]


@pytest.mark.parametrize("kind, value, name", TYPES, ids=lambda v: str(v)[:20] if isinstance(v, pa.DataType) else "")
async def test_every_type_makes_partitions(client, kind, value, name):
    t = await client.create(pa.schema([("id", pa.int64()), ("p", kind)]), partition_keys=["p"])
    p = Partitions(client.server, t.name)
    refused(NOT_EXISTS, p.metadata, names=[name])
    p.create({"p": name})
    await t.append([{"id": 1, "p": value}, {"id": 2, "p": value}])
    assert [r.row["id"] for _, r in await scan_partitions(t, p.list())] == [1, 2]


@pytest.mark.parametrize("kind, text", [(pa.int32(), "x"), (pa.int8(), "128"), (pa.bool_(), "yes"), (pa.date32(), "2024-02-30"), (pa.binary(), "0")],
                         ids=str)
async def test_a_value_must_be_one_of_the_type(client, kind, text):
    t = await client.create(pa.schema([("id", pa.int64()), ("p", kind)]), partition_keys=["p"])
    refused(SPEC_INVALID, Partitions(client.server, t.name).create, {"p": text})


async def test_decimals_make_no_partitions(client):
    with pytest.raises(fluss.FlussError) as e:
        await client.create(pa.schema([("id", pa.int64()), ("p", pa.decimal128(5, 2))]), partition_keys=["p"])
    assert e.value.error_code == INVALID_TABLE


async def test_writers_that_meet_make_one_partition(client):
    """What clients do on the first row of a partition: all of them create it, and write as soon as that is answered."""
    t, p = await events(client, keys=("region",), buckets=1)

    def first_row(i):
        mine = Partitions(client.server, t.name)
        mine.create({"region": "new"}, ignore=True)
        (found,) = mine.metadata(names=["new"])["partition_metadata"]
        answer = mine.wire.call("LIST_OFFSETS", {"follower_server_id": -1, "offset_type": 1, "table_id": t.id, "bucket_id": [0],
                                                 "partition_id": found["partition_id"]})
        assert "error_code" not in answer["buckets_resp"][0], answer
        return found["partition_id"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(first_row, range(8)))) == 1
    assert list(p.list()) == ["new"]


async def test_writes_to_a_partition_that_is_gone_are_told_so(client):
    t, p = await events(client, keys=("region",), buckets=1)
    other = await client.create(EVENTS)
    p.create({"region": "us"})
    await t.append([{"id": 1, "region": "us", "day": ""}])
    pid = p.list()["us"]
    p.drop({"region": "us"})

    def produce(table_id, **where):
        answer = p.wire.call("PRODUCE_LOG", {"acks": -1, "table_id": table_id, "timeout_ms": 1000,
                                             "buckets_req": [{"bucket_id": 0, "records": b"", **where}]})
        return answer["buckets_resp"][0].get("error_code")

    def offsets(table_id, **where):
        answer = p.wire.call("LIST_OFFSETS", {"follower_server_id": -1, "offset_type": 1, "table_id": table_id, "bucket_id": [0], **where})
        return answer["buckets_resp"][0].get("error_code")

    assert produce(t.id, partition_id=pid) == NOT_EXISTS
    assert produce(t.id, partition_id=pid + 1000) == NOT_EXISTS
    assert produce(t.id) == UNKNOWN_TABLE_OR_BUCKET
    assert offsets(t.id, partition_id=pid) == UNKNOWN_TABLE_OR_BUCKET  # readers look at the list of partitions
    p.create({"region": "us"})
    again = p.list()["us"]
    assert produce(t.id, partition_id=pid) == NOT_EXISTS  # the old id is not the new partition
    assert produce(t.id, partition_id=again) is None
    assert produce(other.id, partition_id=again) == UNKNOWN_TABLE_OR_BUCKET
    assert produce(other.id) is None


async def test_a_scan_goes_on_while_partitions_come_and_go(client):
    t, p = await events(client, keys=("region",), buckets=1)
    for region in ("a", "b"):
        p.create({"region": region})
    await t.append([{"id": i, "region": "ab"[i % 2], "day": ""} for i in range(10)])
    ids = p.list()
    scanner = await t.handle.new_scan().create_log_scanner()
    for pid in ids.values():
        scanner.subscribe_partition(partition_id=pid, bucket_id=0, start_offset=0)
    seen = []

    async def until(count):
        deadline = time.monotonic() + 20
        while len(seen) < count and time.monotonic() < deadline:
            seen.extend(r.row["id"] for found in (await scanner.poll(200)).values() for r in found)
        assert len(seen) == count, seen

    await until(10)
    p.drop({"region": "a"})
    p.create({"region": "c"})
    scanner.unsubscribe_partition(ids["a"], 0)
    scanner.subscribe_partition(partition_id=p.list()["c"], bucket_id=0, start_offset=0)
    await t.append([{"id": 10, "region": "b", "day": ""}, {"id": 11, "region": "c", "day": ""}])
    await until(12)


@pytest.mark.own
async def test_limits_have_their_errors(tmp_path):
    server = Server(tmp_path, {"max.partition.num": "3"}).start()
    client = await clients.connect(server)
    t, p = await events(client, keys=("region",))
    for i in range(3):
        p.create({"region": str(i)})
    refused(TOO_MANY, p.create, {"region": "3"})
    refused(TOO_MANY, p.create, {"region": "3"}, ignore=True)
    p.create({"region": "2"}, ignore=True)
    p.drop({"region": "0"})
    p.create({"region": "3"})
    await client.close()
    server.finish()


@pytest.mark.own
async def test_partitions_outlive_stops_and_kills(tmp_path):
    server = Server(tmp_path).start()
    client = await clients.connect(server)
    t, p = await events(client, keys=("region",), buckets=3)
    users = await client.create(USERS, pk=["id", "region"], buckets=2, partition_keys=["region"])
    pu = Partitions(server, users.name)
    for region in ("a", "b", "empty", "gone"):
        p.create({"region": region})
        pu.create({"region": region})
    await t.append([{"id": i, "region": "ab"[i % 2], "day": ""} for i in range(100)])
    await t.append([{"id": 1, "region": "gone", "day": ""}])
    await users.upsert([{"id": i, "region": "ab"[i % 2], "name": str(i)} for i in range(50)])
    p.drop({"region": "gone"})
    pu.drop({"region": "gone"})
    before, before_users = p.list(), pu.list()
    for end in (server.kill, server.stop, server.kill):
        await client.close()
        end()
        server.start()
        client = await clients.connect(server)
        t, users = await client.open(t.path, EVENTS), await client.open(users.path, USERS)
        p, pu = Partitions(server, t.name), Partitions(server, users.name)
        assert p.list() == before and pu.list() == before_users
        assert not list((server.data / "fluss").glob("*/gone-p*"))
        rows = await scan_partitions(t, p.list())
        assert sorted(r.row["id"] for _, r in rows) == list(range(100))
        for i in (0, 1):  # a new client that learns of a partition by many look-ups at once takes some for missing
            await users.lookup([{"id": i, "region": "ab"[i]}])
        found = await users.lookup([{"id": i, "region": "ab"[i % 2]} for i in range(50)])
        assert [f["name"] for f in found] == [str(i) for i in range(50)]
    await t.append([{"id": 100, "region": "empty", "day": ""}])
    assert len(await scan_partitions(t, p.list())) == 101
    await client.admin.drop_table(t.path)
    assert not list((server.data / "fluss").glob(f"{t.path.table_name}-*"))
    await client.close()
    server.finish()


@pytest.mark.own
@pytest.mark.timeout(300)
async def test_a_thousand_partitions_of_sixteen_buckets(tmp_path):
    """Made in 5 s, listed in 50 ms by a release build; the sanitizers take a few times that."""
    server = Server(tmp_path).start()
    client = await clients.connect(server)
    t = await client.create(USERS, pk=["id", "region"], buckets=16, partition_keys=["region"])
    p = Partitions(server, t.name)
    idle, begin = server.resident_bytes(), time.monotonic()
    for i in range(1000):
        p.create({"region": f"r{i}"})
    made = time.monotonic() - begin
    begin = time.monotonic()
    listed = p.list()
    took, grown = time.monotonic() - begin, server.resident_bytes() - idle
    print(f"made in {made:.2f} s, listed in {took * 1000:.1f} ms, {grown >> 20} MiB for 16000 buckets")
    assert len(listed) == 1000
    refused(TOO_MANY, p.create, {"region": "one-more"})
    assert made < 20 and took < 0.5 and grown < 256 << 20
    begin = time.monotonic()
    server.kill()
    server.start()
    print(f"killed and started again in {time.monotonic() - begin:.2f} s")
    p = Partitions(server, t.name)
    assert p.list() == listed
    await client.close()
    client = await clients.connect(server)
    await client.admin.drop_table(t.path)
    await client.close()
    server.finish()


@pytest.mark.own
@pytest.mark.timeout(120)
async def test_a_thousand_buckets_start_again_soon(tmp_path):
    """Each log has to be made durable after a kill: side by side, not one after the other."""
    server = Server(tmp_path).start()
    client = await clients.connect(server)
    begin = time.monotonic()
    t = await client.create(USERS, pk=["id", "region"], buckets=1024)
    made = time.monotonic() - begin
    await t.upsert([{"id": i, "region": "r", "name": str(i)} for i in range(5000)])
    await client.close()
    server.kill()
    server.start()
    print(f"made in {made:.3f} s, started again in {server.start_seconds:.2f} s, {server.resident_bytes() >> 20} MiB")
    client = await clients.connect(server)
    t = await client.open(t.path, USERS)
    assert sum((await t.ends()).values()) == 5000
    assert [f["name"] for f in await t.lookup([{"id": i, "region": "r"} for i in range(0, 5000, 50)])] == [str(i) for i in range(0, 5000, 50)]
    await client.close()
    server.finish()
