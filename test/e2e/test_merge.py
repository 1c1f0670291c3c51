"""How rows of one key become one: partial updates, merge engines, deletes; keys by their first columns; forms of rows and logs."""
import random

import fluss
import pyarrow as pa
import pytest

from harness import client as clients
from harness.client import fold, partial
from harness.server import Server

ROW = pa.schema([pa.field("id", pa.int32(), nullable=False), ("a", pa.string()), ("b", pa.string()), ("v", pa.int64())])
ORDERS = pa.schema([pa.field("shop", pa.string(), nullable=False), pa.field("user", pa.int32(), nullable=False),
                    pa.field("item", pa.int64(), nullable=False), ("note", pa.string())])


def row(i, a=None, b=None, v=None):
    return {"id": i, "a": a, "b": b, "v": v}


async def kinds(t, count=None):
    """Without count the last change must not be followed by a put that changed nothing: its offset is never read."""
    return " ".join(c.kind for c in await t.scan(count))


async def state(t, ids):
    return [f and tuple(f[k] for k in ("a", "b", "v")) for f in await t.lookup([{"id": i} for i in ids])]


async def test_columns_are_written_apart(client):
    t = await client.create(ROW, ["id"])
    await partial(t, ["id", "a"], [{"id": 1, "a": "x"}, {"id": 2, "a": "y"}])
    await partial(t, ["id", "b", "v"], [{"id": 1, "b": "q", "v": 7}, {"id": 3, "b": "r", "v": 8}])
    assert await state(t, [1, 2, 3]) == [("x", "q", 7), ("y", None, None), (None, "r", 8)]
    assert await kinds(t) == "+I +I -U +U +I"
    changes = fold(await t.scan(), ["id"])
    assert len(changes) == 3


async def test_columns_are_deleted_apart(client):
    t = await client.create(ROW, ["id"])
    await t.upsert([row(1, "x", "y", 5), row(2, "x")])
    await partial(t, ["id", "a"], deletes=[{"id": 1}, {"id": 2}, {"id": 3}])
    found = await t.lookup([{"id": 1}, {"id": 2}])
    assert found[0]["a"] is None and found[0]["b"] == "y" and found[1] is None
    assert await kinds(t) == "+I +I -U +U -D"


@pytest.mark.parametrize("properties, want", [
    ({"table.merge-engine": "first_row"}, ("+I", "one")),
    ({"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "v"}, ("+I -U +U", "three")),
    ({"table.delete.behavior": "ignore"}, ("+I -U +U -U +U", "two")),
], ids=["first_row", "versioned", "ignore"])
async def test_engines_choose_the_row(client, properties, want):
    t = await client.create(ROW, ["id"], properties=properties)
    await t.upsert([row(1, "one", v=5)])
    await t.upsert([row(1, "three", v=6)])
    await t.upsert([row(1, "two", v=4)])
    await t.delete([{"id": 1}])
    assert (await kinds(t, len(want[0].split())), (await t.lookup([{"id": 1}]))[0]["a"]) == want


async def test_deletes_can_be_forbidden(client):
    t = await client.create(ROW, ["id"], properties={"table.delete.behavior": "disable"})
    await t.upsert([row(1, "x")])
    with pytest.raises(fluss.FlussError) as e:
        await t.upserter.delete({"id": 1}).wait()
    assert e.value.error_code == fluss.ErrorCode.DELETION_DISABLED_EXCEPTION
    assert (await t.lookup([{"id": 1}]))[0]["a"] == "x"


async def prefix(t, keys):
    lookuper = t.handle.new_lookup().lookup_by(["shop", "user"]).create_lookuper()
    return [sorted((r["item"], r["note"]) for r in await lookuper.lookup(k)) for k in keys]


@pytest.mark.own
@pytest.mark.parametrize("options", [{}, {"weir.kv.flush.interval": "1 s"}], ids=["from the delta", "with the engine"])
async def test_keys_are_found_by_their_first_columns(tmp_path, options):
    server = Server(tmp_path, options).start()
    client = await clients.connect(server)
    t = await client.create(ORDERS, ["shop", "user", "item"], buckets=3, bucket_keys=["shop", "user"])
    rng, model = random.Random(3), {}
    shops = ["", "a", "aa", "b\x00", "ü"]
    for _ in range(4):
        rows = [{"shop": rng.choice(shops), "user": rng.randrange(4), "item": rng.randrange(40), "note": str(rng.random())} for _ in range(200)]
        gone = [{k: r[k] for k in ("shop", "user", "item")} for r in rng.sample(rows, 50)]
        await t.upsert(rows)
        await t.delete(gone)
        for r in rows:
            model[r["shop"], r["user"], r["item"]] = r["note"]
        for r in gone:
            model.pop((r["shop"], r["user"], r["item"]), None)
        want = [sorted((i, n) for (s, u, i), n in model.items() if (s, u) == k) for k in [(s, u) for s in shops for u in range(4)]]
        assert await prefix(t, [{"shop": s, "user": u} for s in shops for u in range(4)]) == want
        assert await prefix(t, [{"shop": "none", "user": 1}, {"shop": "a", "user": 99}]) == [[], []]
    await client.close()
    server.kill()
    server.start()
    client = await clients.connect(server)
    t = await client.open(t.path, ORDERS)
    assert await prefix(t, [{"shop": s, "user": u} for s in shops for u in range(4)]) == want
    await client.close()
    server.finish()


@pytest.mark.own
@pytest.mark.parametrize("log", ["ARROW", "COMPACTED"])
async def test_logs_of_keys_have_forms(tmp_path, log):
    """pyfluss reads no changelog of COMPACTED rows, and knows no INDEXED ones; src/bucket/merge_test.c does."""
    server = Server(tmp_path).start()
    client = await clients.connect(server)
    t = await client.create(ROW, ["id"], properties={"table.log.format": log})
    await t.upsert([row(i, "x" * i, None if i % 3 else "b", i) for i in range(30)])
    await t.upsert([row(5, "again", v=-1)])
    await t.delete([{"id": 6}])
    want = await t.lookup([{"id": i} for i in range(30)])
    assert want[5]["a"] == "again" and want[6] is None and want[7]["a"] == "x" * 7
    await client.close()
    server.kill()
    server.start()
    client = await clients.connect(server)
    t = await client.open(t.path, ROW)
    assert await t.lookup([{"id": i} for i in range(30)]) == want
    await client.close()
    server.finish()
