"""Columns that the server numbers, and look-ups that insert what is missing."""
import asyncio

import fluss
import pyarrow as pa
import pytest

from harness import client as clients
from harness.server import Server
from harness.wire import Wire, WireError, compacted, int_key, look_up
from harness.weir import USAGE, Weir, verify

NUMBERED = pa.schema([pa.field("id", pa.int32(), nullable=False), ("n", pa.int64()), ("name", pa.string())])
PAIR = pa.schema([pa.field("id", pa.int32(), nullable=False), ("n", pa.int64())])


async def numbered(client, schema=NUMBERED, cache=10, buckets=1, properties=None):
    properties = {"table.auto-increment.cache-size": str(cache), **(properties or {})}
    return await client.create(schema, ["id"], buckets, name="numbered", properties=properties, numbered="n")


async def insert(t, ids, name="x"):
    writer = t.handle.new_upsert().partial_update_by_name(["id", "name"]).create_writer()
    for i in ids:
        writer.upsert({"id": i, "name": name})
    await writer.flush()


async def numbers(t, ids):
    return [r["n"] for r in await t.lookup([{"id": i} for i in ids])]


@pytest.mark.own
async def test_no_number_is_given_twice(tmp_path):
    server = Server(tmp_path).start()
    client = await clients.connect(server)
    lake = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"}
    t = await numbered(client, buckets=3, properties=lake)
    path, seen = t.path, {}
    for n in range(4):
        ids = range(25 * n, 25 * n + 25)
        await insert(t, ids)
        await insert(t, ids, "again")
        seen |= dict(zip(ids, await numbers(t, ids)))
        await client.close()
        server.kill()
        server.start()
        client = await clients.connect(server)
        t = await client.open(path, NUMBERED)
    assert len(set(seen.values())) == 100 and min(seen.values()) == 1
    assert await numbers(t, range(100)) == [seen[i] for i in range(100)]
    await t.lake(t.rows([{"id": i, "n": n, "name": "again"} for i, n in seen.items()]))
    await verify(server, t.name)
    await client.close()
    server.finish()


async def test_numbers_rise_and_stay(client):
    t = await numbered(client)
    await insert(t, range(30))
    assert await numbers(t, range(30)) == list(range(1, 31))
    await insert(t, range(30), "later")
    assert await numbers(t, range(30)) == list(range(1, 31))
    assert [c.kind for c in await t.scan()] == ["+I"] * 30 + ["-U", "+U"] * 30
    for columns in (["id", "n", "name"], ["id", "n"]):
        with pytest.raises(fluss.FlussError, match="'n'|n"):
            await t.handle.new_upsert().partial_update_by_name(columns).create_writer().upsert({"id": 99, "n": 1, "name": "y"}).wait()


@pytest.mark.own
async def test_numbers_of_an_int_end(tmp_path):
    server = Server(tmp_path).start()
    client = await clients.connect(server)
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), ("n", pa.int32()), ("name", pa.string())])
    t = await numbered(client, schema, 2**31 - 1)
    path = t.path
    await insert(t, [1])
    assert await numbers(t, [1]) == [1]
    await client.close()
    server.restart()
    client = await clients.connect(server)
    t = await client.open(path, schema)
    with pytest.raises(fluss.FlussError, match="used up"):
        await t.handle.new_upsert().partial_update_by_name(["id", "name"]).create_writer().upsert({"id": 2, "name": "y"}).wait()
    await insert(t, [1], "still written")
    await client.close()
    server.finish()


def rows(answer, count=2):
    bucket = answer["buckets_resp"][0]
    assert not bucket.get("error_code"), bucket
    return [compacted(v["values"][2:], count) if "values" in v else None for v in bucket["values"]]


async def test_look_ups_insert_what_is_missing(client, shared):
    t = await numbered(client, PAIR)
    insert = {"insert_if_not_exists": True, "acks": -1, "timeout_ms": 10000}
    with Wire(shared.bootstrap) as wire:
        assert rows(wire.call("LOOKUP", look_up(t.id, [int_key(7)]))) == [None]
        assert rows(wire.call("LOOKUP", look_up(t.id, [int_key(7), int_key(9), int_key(7)], **insert))) == [[7, 1], [9, 2], [7, 1]]
        assert rows(wire.call("LOOKUP", look_up(t.id, [int_key(9), int_key(-1)], **insert, ))) == [[9, 2], [2**32 - 1, 3]]
        assert rows(wire.call("LOOKUP", look_up(t.id, [int_key(7)]))) == [[7, 1]]
        no_key = wire.call("LOOKUP", look_up(t.id, [b"no key"], **insert))["buckets_resp"][0]
        assert no_key["error_code"] == -1
        with pytest.raises(WireError) as e:
            wire.call("LOOKUP", look_up(t.id, [int_key(8)], insert_if_not_exists=True))
        assert e.value.code == -1
    assert [c.kind for c in await t.scan()] == ["+I"] * 3


async def test_many_ask_for_the_same_keys_at_once(client, shared):
    t = await numbered(client, PAIR)
    fields = look_up(t.id, [int_key(i) for i in range(50)], insert_if_not_exists=True, acks=1, timeout_ms=10000)

    def ask():
        with Wire(shared.bootstrap) as wire:
            return rows(wire.call("LOOKUP", fields))
    answers = await asyncio.gather(*(asyncio.to_thread(ask) for _ in range(6)))
    assert sorted(n for _, n in answers[0]) == list(range(1, 51)) and all(a == answers[0] for a in answers)
    assert len(await t.scan()) == 50


async def test_look_ups_insert_only_where_all_else_can_be_null(client, shared):
    strict = await client.create(pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("n", pa.int64(), nullable=False)]), ["id"])
    first = await client.create(PAIR, ["id"], properties={"table.merge-engine": "first_row"})
    insert = {"insert_if_not_exists": True, "acks": -1, "timeout_ms": 10000}
    with Wire(shared.bootstrap) as wire:
        assert wire.call("LOOKUP", look_up(strict.id, [int_key(1)], **insert))["buckets_resp"][0]["error_code"] == 35
        assert wire.call("LOOKUP", look_up(first.id, [int_key(1)], **insert))["buckets_resp"][0]["error_code"] == -1
        await strict.upsert([{"id": 1, "n": 5}])
        assert rows(wire.call("LOOKUP", look_up(strict.id, [int_key(1)], **insert))) == [[1, 5]]


@pytest.mark.own  # stock fails: it takes the key for the whole primary key
async def test_look_ups_insert_into_partitions(client, shared):
    """Keys do not hold the partition's columns: they come from its name."""
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("dt", pa.int32(), nullable=False), ("n", pa.int64())])
    path = client.path("parted")
    await client.admin.create_table(path, fluss.TableDescriptor(
        fluss.Schema(schema, primary_keys=["dt", "id"], auto_increment_column="n"), partition_keys=["dt"], bucket_count=1))
    await client.admin.create_partition(path, {"dt": "-5"})
    t = await client.open(path, schema)
    (part,) = await client.admin.list_partition_infos(path)
    fields = look_up(t.id, [int_key(7)], insert_if_not_exists=True, acks=-1, timeout_ms=10000)
    fields["buckets_req"][0]["partition_id"] = part.partition_id
    with Wire(shared.bootstrap) as wire:
        assert rows(wire.call("LOOKUP", fields), 3) == [[7, 2**32 - 5, 1]]
        fields["buckets_req"][0]["partition_id"] = 10**6
        assert wire.call("LOOKUP", fields)["buckets_resp"][0]["error_code"] == 36


def test_weir_writes_numbered_tables(shared):
    weir, name = Weir(shared.bootstrap), f"words_{clients._run}"
    weir.run("sql", f"CREATE TABLE {name} (word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('auto-increment.fields' = 'n')")
    weir.run("put", name, '{"word": "a"}', '{"word": "b"}', '{"word": "a"}')
    assert weir.rows("get", name, "a", "b") == [{"word": "a", "n": 1}, {"word": "b", "n": 2}]
    weir.run("put", name, '{"word": "c", "n": 7}', code=USAGE)
    assert "numbered by the server" in weir.errors
    assert "auto-increment.fields" in weir.run("sql", f"SHOW CREATE TABLE {name}")
