"""Primary-key tables through pyfluss: look-ups see the newest acknowledged row, the changelog tells how it came to be."""
import asyncio
import random
import time

import fluss
import pyarrow as pa
import pytest

from harness import canon
from harness.client import fold
from harness.types import KEYS, TYPES, nested

USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string()), ("score", pa.int64())])


def user(i, v=0):
    return {"id": i, "name": f"user-{i}-v{v}", "score": None if i % 5 == 4 else i * 10 + v}


async def test_a_lookup_sees_a_row_as_soon_as_it_is_acknowledged(client):
    t = await client.create(USERS, ["id"])
    for v in range(5):
        await t.upsert([user(1, v)])
        assert await t.lookup([{"id": 1}]) == t.rows([user(1, v)])


async def test_an_absent_key_gives_nothing(client):
    t = await client.create(USERS, ["id"], buckets=2)
    assert await t.lookup([{"id": 1}]) == [None]
    await t.upsert([user(1)])
    assert await t.lookup([{"id": 1}, {"id": 2}, {"id": -1}]) == [*t.rows([user(1)]), None, None]


async def test_a_deleted_key_is_gone_and_may_come_back(client):
    t = await client.create(USERS, ["id"])
    await t.upsert([user(1), user(2)])
    await t.delete([{"id": 1}])
    assert await t.lookup([{"id": 1}, {"id": 2}]) == [None, *t.rows([user(2)])]
    await t.upsert([user(1, 9)])
    assert await t.lookup([{"id": 1}]) == t.rows([user(1, 9)])


async def test_the_changelog_has_old_and_new_rows(client):
    t = await client.create(USERS, ["id"])
    await t.upsert([user(1)])
    await t.upsert([user(2)])
    await t.upsert([user(1, 1)])
    await t.delete([{"id": 2}])
    changes = await t.scan(count=5)
    one, two, one_1 = t.rows([user(1), user(2), user(1, 1)])
    assert [(c.kind, c.row) for c in changes] == [("+I", one), ("+I", two), ("-U", one), ("+U", one_1), ("-D", two)]
    assert [c.offset for c in changes] == list(range(5))


async def test_an_equal_row_is_an_update_too(client):
    t = await client.create(USERS, ["id"])
    await t.upsert([user(1)])
    await t.upsert([user(1)])
    assert [c.kind for c in await t.scan(count=3)] == ["+I", "-U", "+U"]


async def test_changes_of_one_batch_see_each_other(client):
    t = await client.create(USERS, ["id"])
    w = t.upserter
    w.upsert(user(1)), w.upsert(user(1, 1)), w.delete({"id": 1}), w.upsert(user(1, 2)), w.upsert(user(2)), w.delete({"id": 2})
    await w.flush()
    changes = await t.scan(count=7)
    assert [(c.kind, c.row["id"]) for c in changes] == [("+I", 1), ("-U", 1), ("+U", 1), ("-D", 1), ("+I", 1), ("+I", 2), ("-D", 2)]
    assert await t.lookup([{"id": 1}, {"id": 2}]) == [*t.rows([user(1, 2)]), None]


async def test_deleting_an_absent_key_changes_nothing(client):
    t = await client.create(USERS, ["id"])
    await t.delete([{"id": 5}])
    await t.upsert([user(1)])
    await t.delete([{"id": 6}, {"id": 7}])
    changes = await t.scan(count=1)
    assert [(c.kind, c.row["id"]) for c in changes] == [("+I", 1)]
    await t.upsert([user(2)])
    assert [c.row["id"] for c in await t.scan(count=2)] == [1, 2]


async def test_the_changelog_folds_to_what_lookups_see(client):
    t = await client.create(USERS, ["id"], buckets=3)
    r, model = random.Random(1), {}
    for v in range(6):
        for _ in range(150):
            i = r.randrange(100)
            if r.random() < 0.3:
                t.upserter.delete({"id": i})
                model.pop(i, None)
            else:
                t.upserter.upsert(user(i, v))
                model[i] = user(i, v)
        await t.upserter.flush()
    changes = await t.scan()
    want = t.rows(model.values())
    assert canon.differ(fold(changes, ["id"]).values(), want) is None
    found = await t.lookup([{"id": i} for i in range(100)])
    assert found == [t.rows([model[i]])[0] if i in model else None for i in range(100)]
    limited = await t.limit(1000)
    assert canon.differ([x for rows in limited.values() for x in rows], want) is None


async def test_a_limit_scan_gives_that_many_rows(client):
    t = await client.create(USERS, ["id"])
    await t.upsert([user(i) for i in range(100)])
    rows = (await t.limit(10))[0]
    assert len(rows) == 10 and len({x["id"] for x in rows}) == 10
    assert all(x == t.rows([user(x["id"])])[0] for x in rows)
    assert [list(x) for x in (await t.limit(1, ["score"]))[0]] == [["score"]]


async def test_many_lookups_at_once(client):
    t = await client.create(USERS, ["id"], buckets=4)
    await t.upsert([user(i) for i in range(2000)])
    keys = random.Random(3).sample(range(2500), 1000)
    begin = time.monotonic()
    found = await t.lookup([{"id": k} for k in keys])
    assert found == [t.rows([user(k)])[0] if k < 2000 else None for k in keys]
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize("name", TYPES)
async def test_each_type_keeps_its_values(client, name):
    arrow, edges, make = TYPES[name]
    t = await client.create(pa.schema([pa.field("id", pa.int32(), nullable=False), ("v", arrow)]), ["id"])
    r = random.Random(name)
    rows = [{"id": i, "v": v} for i, v in enumerate([None, *edges, *(make(r) for _ in range(20))])]
    await t.upsert(rows)
    assert await t.lookup([{"id": x["id"]} for x in rows]) == t.rows(rows)
    assert canon.differ([c.row for c in await t.scan(count=len(rows))], t.rows(rows)) is None


@pytest.mark.parametrize("name", KEYS)
async def test_each_type_of_key_finds_its_row(client, name):
    arrow, edges, make = TYPES[name]
    t = await client.create(pa.schema([("v", pa.int32()), pa.field("k", arrow, nullable=False)]), ["k"], buckets=3)
    r = random.Random(name)
    keys = list({repr(k): k for k in [*edges, *(make(r) for _ in range(30))]}.values())
    rows = [{"k": k, "v": i} for i, k in enumerate(keys)]
    await t.upsert(rows)
    assert await t.lookup([{"k": k} for k in keys]) == t.rows(rows)
    await t.delete([{"k": k} for k in keys[::2]])
    assert await t.lookup([{"k": k} for k in keys]) == [x if i % 2 else None for i, x in enumerate(t.rows(rows))]


async def test_a_key_of_several_columns(client):
    schema = pa.schema([pa.field("a", pa.string(), nullable=False), ("v", pa.int32()), pa.field("b", pa.int64(), nullable=False), pa.field("c", pa.date32(), nullable=False)])
    t = await client.create(schema, ["a", "b", "c"], buckets=2)
    r = random.Random(8)
    rows = [{"a": f"{i % 3}", "b": i // 3, "c": TYPES["date"][2](r), "v": i} for i in range(60)]
    await t.upsert(rows)
    assert await t.lookup([{k: x[k] for k in "abc"} for x in rows]) == t.rows(rows)


async def test_nested_types_keep_their_values(client):
    r = random.Random(6)
    kinds = [nested(r, depth=3) for _ in range(20)]
    t = await client.create(pa.schema([pa.field("id", pa.int32(), nullable=False), *((f"c{i}", k[1]) for i, k in enumerate(kinds))]), ["id"])
    rows = [{"id": i, **{f"c{n}": None if r.random() < 0.2 else k[2](r) for n, k in enumerate(kinds)}} for i in range(30)]
    await t.upsert(rows)
    assert await t.lookup([{"id": x["id"]} for x in rows]) == t.rows(rows)
    assert canon.differ([c.row for c in await t.scan(count=len(rows))], t.rows(rows)) is None


async def test_a_lookup_on_a_log_table_is_refused(client):
    t = await client.create(USERS)
    with pytest.raises(fluss.FlussError):
        t.handle.new_lookup().create_lookuper()


async def test_writers_of_one_key_take_turns(client, shared, connect):
    """Each upsert of each writer is one step of the changelog; the last of them is what a look-up sees."""
    t = await client.create(USERS, ["id"])
    tables = [await (await connect(shared)).open(t.path, USERS) for _ in range(4)]

    async def write(n, table):
        for v in range(20):
            await table.upsert([{"id": 1, "name": f"w{n}", "score": v}])
    await asyncio.gather(*(write(n, x) for n, x in enumerate(tables)))
    changes = await t.scan(count=1 + 2 * 79)
    (final,) = fold(changes, ["id"]).values()
    assert await t.lookup([{"id": 1}]) == [final]
    for n in range(4):
        assert [c.row["score"] for c in changes if c.kind != "-U" and c.row["name"] == f"w{n}"] == list(range(20))


async def test_a_change_that_a_scan_shows_is_found_by_a_lookup(client):
    """Pain 71: whoever reads a change of the log and asks for its key at once sees that row or a newer one."""
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("n", pa.int64())])
    t = await client.create(schema, ["id"], buckets=2)
    scanner = await t.handle.new_scan().create_log_scanner()
    scanner.subscribe_buckets({b: fluss.EARLIEST_OFFSET for b in range(t.buckets)})

    async def write():
        for n in range(1, 60):
            await t.upsert([{"id": i, "n": n} for i in range(8)])
    writing, seen = asyncio.ensure_future(write()), 0
    while seen < 59 * 8:
        newest = {}
        for found in (await scanner.poll(200)).values():
            for r in found:
                if r.change_type.short_string() in ("+I", "+U"):
                    seen += 1
                    newest[r.row["id"]] = r.row["n"]
        for (key, n), row in zip(newest.items(), await t.lookup([{"id": k} for k in newest])):
            assert row and int(row["n"]) >= n, f"key {key}: the scan showed {n}, the look-up {row}"
    await writing
