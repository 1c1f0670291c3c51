"""ALTER TABLE ... ADD: batches and rows of before under the schema of after, in every way to read and to write, in the lake too."""
import asyncio
import itertools
import json
import os
import random

import pyarrow as pa
import pytest

from harness import canon, lake
from harness.alter import add_columns, alter, column
from harness.client import fold, partial
from harness.types import TYPES
from harness.weir import NO, Weir, verify
from harness.wire import Wire, WireError, table_path

pytestmark = pytest.mark.own  # stock sends no columns that a batch lacks: there every projection of a new one fails

OLD = pa.schema([("id", pa.int64()), ("v", pa.string())])
NEW = pa.schema([*OLD, ("n", pa.int32()), ("s", pa.string())])
KEYED = pa.schema([pa.field("shop", pa.string(), nullable=False), pa.field("id", pa.int32(), nullable=False), ("v", pa.string())])
KEYED_NEW = pa.schema([*KEYED, ("n", pa.int32()), ("s", pa.string())])
ADDED = [("n", pa.int32()), ("s", pa.string())]


def error_of(server, name, **more):
    with pytest.raises(WireError) as e:
        alter(server, name, **more)
    return e.value.code


# ---- the statement ----

async def test_only_nullable_columns_behind_the_others_are_added(client, shared):
    t = await client.create(OLD, buckets=1)
    n = pa.field("n", pa.int32())
    assert error_of(shared, t.name, add_columns=[column(n, column_position_type=1)]) == -1
    assert error_of(shared, t.name, add_columns=[column(n, column_position_type=3)]) == -1
    assert error_of(shared, t.name, add_columns=[column(n.with_nullable(False))]) == -1
    assert error_of(shared, t.name, add_columns=[column(n.with_name("v"))]) == 56
    assert error_of(shared, t.name, add_columns=[column(n), column(n)]) == 56
    assert error_of(shared, t.name, add_columns=[column(n.with_name("__offset"))]) == 15
    assert error_of(shared, t.name, add_columns=[column(n, data_type_json=b'{"type":"NONE"}')]) == 15
    assert error_of(shared, t.name, drop_columns=[{"column_name": "v"}]) == -1
    assert error_of(shared, t.name, rename_columns=[{"old_column_name": "v", "new_column_name": "w"}]) == -1
    assert error_of(shared, t.name, modify_columns=[{"column_name": "v", "data_type_json": b'{"type":"BYTES"}'}]) == -1
    assert error_of(shared, "fluss.no_such_table", add_columns=[column(n)]) == 7
    alter(shared, "fluss.no_such_table", ignore=1, add_columns=[column(n)])
    assert (await client.admin.get_table_info(t.path)).schema_id == 1


def schema_of(wire, name, schema_id=None):
    more = {} if schema_id is None else {"schema_id": schema_id}
    return wire.call("GET_TABLE_SCHEMA", {"table_path": table_path(name), **more})


async def test_every_schema_that_was_is_told(connect, server):
    server.start()
    t = await (await connect(server)).create(OLD, buckets=1, lake=True)
    alter(server, t.name, add_columns=[column(pa.field("n", pa.int32()), comment="how many")])
    add_columns(server, t.name, ("r", pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])), ("z", pa.int64()))
    for _ in range(2):
        with Wire(server.bootstrap) as w:
            names = [[c["name"] for c in json.loads(schema_of(w, t.name, i)["schema_json"])["columns"]] for i in (1, 2, 3)]
            assert names == [["id", "v"], ["id", "v", "n"], ["id", "v", "n", "r", "z"]]
            latest = schema_of(w, t.name)
            assert latest["schema_id"] == 3
            columns = json.loads(latest["schema_json"])["columns"]
            assert [c["id"] for c in columns] == [0, 1, 2, 3, 6] and columns[2]["comment"] == "how many"
            assert [f["field_id"] for f in columns[3]["data_type"]["fields"]] == [4, 5]
            with pytest.raises(WireError) as e:
                schema_of(w, t.name, 4)
            assert e.value.code == 9
            info = w.call("GET_TABLE_INFO", {"table_path": table_path(t.name)})
            assert info["schema_id"] == 3 and json.loads(info["table_json"])["schema"] == json.loads(latest["schema_json"])
        server.restart()


# ---- log tables ----

async def write_both(server, before, now, **options):
    """A table with batches of before, of after, and of a writer that has not heard of it: (table, all rows, reader of before)."""
    t0 = await before.create(OLD, buckets=2, bucket_keys=["id"], **options)
    old = [{"id": i, "v": f"v{i}"} for i in range(40)]
    await t0.append(old)
    add_columns(server, t0.name, *ADDED)
    t = await now.open(t0.path, NEW, altered=True)
    new = [{"id": 100 + i, "v": None, "n": i, "s": "s" * (i % 5)} for i in range(30)]
    late = [{"id": 200 + i, "v": "late"} for i in range(20)]
    await t.append(new)
    await t0.append(late)
    return t, old + new + late, t0


@pytest.mark.parametrize("codec", ["NONE", "LZ4_FRAME", "ZSTD"])
async def test_batches_of_before_are_read_with_nulls(shared, connect, codec):
    t, rows, t0 = await write_both(shared, await connect(shared), await connect(shared), lake=True,
                                   properties={"table.log.arrow.compression.type": codec})
    want = t.rows(rows)
    assert canon.differ([c.row for c in await t.scan()], want) is None
    for n in range(1, 5):
        for some in itertools.combinations(NEW.names, n):
            assert canon.differ(await t.arrow(list(some)), [{c: r[c] for c in some} for r in want]) is None, some
    found = await t.limit(1000)
    assert canon.differ([r for rows in found.values() for r in rows], want) is None
    few = await t.limit(7)
    assert all(len(few[b]) == 7 and few[b] == found[b][-7:] for b in few)
    # Who knows the old schema only goes on with it.
    assert canon.differ([c.row for c in await t0.scan()], t0.rows(rows)) is None
    assert canon.differ(await t0.arrow(["v"]), [{"v": r["v"]} for r in t0.rows(rows)]) is None
    await t.lake(want)
    await verify(shared, t.name)
    weir = Weir(shared.bootstrap)
    for how in (["scan", t.name], ["scan", t.name, "--hot"], ["scan", f"{t.name}$lake"], ["tail", t.name, "--from", "earliest", "--limit", str(len(rows))]):
        assert canon.differ([canon.row(r, NEW) for r in weir.rows(*how)], want) is None, how


@pytest.mark.parametrize("log", ["INDEXED", "COMPACTED"])
async def test_rows_of_before_are_read_in_row_formats(client, shared, log):
    """pyfluss reads and writes no such logs; weir does."""
    weir, t = Weir(shared.bootstrap), await client.create(OLD, buckets=2, lake=True, properties={"table.log.format": log})
    old = [{"id": i, "v": f"v{i}"} for i in range(20)]
    weir.run("put", t.name, *map(json.dumps, old))
    add_columns(shared, t.name, *ADDED)
    new = [{"id": 100 + i, "v": None, "n": i, "s": "x"} for i in range(10)]
    weir.run("put", t.name, *map(json.dumps, new))
    want = [canon.row(r, NEW) for r in old + new]
    await lake.until(shared.warehouse, t.name, NEW, want)
    await verify(shared, t.name)
    for how in (["scan", t.name], ["scan", t.name, "--hot"], ["scan", t.name, "--hot", "--limit", "1000"], ["tail", t.name, "--from", "earliest", "--limit", "30"]):
        assert canon.differ([canon.row(r, NEW) for r in weir.rows(*how)], want) is None, how


async def test_a_column_of_each_type_is_added(client, shared, connect):
    """One ALTER each, a row before each: as many schemas as types in one log, and what pyfluss, pypaimon and weir make of them."""
    rng, schema, rows = random.Random(5), OLD, []
    t = await client.create(OLD, buckets=1, lake=True)
    kinds = {**{name: (arrow, make) for name, (arrow, _, make) in TYPES.items()},
             "list": (pa.list_(pa.string()), lambda r: ["a", None]), "map": (pa.map_(pa.int32(), pa.string()), lambda r: {1: "x"}),
             "row": (pa.struct([("x", pa.int32()), ("y", pa.list_(pa.int64()))]), lambda r: {"x": 1, "y": [2, None]})}
    makers = {"id": lambda r: r.randrange(1000), "v": lambda r: "v"}
    for name, (arrow, make) in kinds.items():
        rows.append({c: m(rng) for c, m in makers.items()})
        await t.append(rows[-1:])
        add_columns(shared, t.name, (name, arrow))
        makers[name] = make
        schema = schema.append(pa.field(name, arrow))
        t = await client.open(t.path, schema, altered=True)
    rows.append({c: m(rng) for c, m in makers.items()})
    await t.append(rows[-1:])
    want = t.rows(rows)
    assert canon.differ(await t.arrow(), want) is None
    assert canon.differ((await t.limit(1000))[0], want) is None
    await t.lake(want)
    await verify(shared, t.name)


# ---- primary-key tables: rows of before x what is done to them ----

def key(i):
    return {"shop": "ab"[i % 2], "id": i}


class Matrix:
    """Rows of before the change, one for each thing that is done to one after it; and rows that were never there."""

    def __init__(self, before, now):
        self.before, self.now, self.model = before, now, {}

    def put(self, i, **values):
        self.model[i] = {**key(i), "v": None, "n": None, "s": None, **values}

    async def old_rows(self, **options):
        self.t0 = await self.before.create(KEYED, ["shop", "id"], buckets=2, bucket_keys=["shop"], **options)
        await self.t0.upsert([{**key(i), "v": f"v{i}"} for i in range(12)])
        await self.t0.delete([key(11)])
        for i in range(11):
            self.put(i, v=f"v{i}")

    async def change(self, server):
        add_columns(server, self.t0.name, *ADDED)
        self.t = t = await self.now.open(self.t0.path, KEYED_NEW, altered=True)
        await t.upsert([{**key(1), "v": "w1", "n": 1, "s": "x"}])
        self.put(1, v="w1", n=1, s="x")
        await partial(t, ["shop", "id", "v"], [{**key(2), "v": "w2"}])
        self.put(2, v="w2")
        await partial(t, ["shop", "id", "n"], [{**key(i), "n": i} for i in (3, 6, 20)])
        self.put(3, v="v3", n=3)
        self.put(20, n=20)
        await t.delete([key(4)])
        del self.model[4]
        await partial(t, ["shop", "id", "v"], deletes=[key(5), key(6)])
        del self.model[5]
        self.put(6, n=6)
        await t.upsert([{**key(7), "v": "w7", "n": 7, "s": "x"}, {**key(21), "v": "w21", "n": 21}])
        self.put(21, v="w21", n=21)
        # A writer that has not heard of the change writes whole rows, so what it does not know of is null.
        await self.t0.upsert([{**key(i), "v": f"late{i}"} for i in (7, 8, 22)])
        for i in (7, 8, 22):
            self.put(i, v=f"late{i}")
        await self.t0.delete([key(9)])
        del self.model[9]

    def rows(self):
        return [canon.row(r, KEYED_NEW) for r in self.model.values()]

    async def check(self):
        t, want = self.t, {i: canon.row(r, KEYED_NEW) for i, r in self.model.items()}
        assert await t.lookup(map(key, range(23))) == [want.get(i) for i in range(23)]
        assert await self.t0.lookup(map(key, range(23))) == [want.get(i) and {c: want[i][c] for c in KEYED.names} for i in range(23)]
        lookuper = t.handle.new_lookup().lookup_by(["shop"]).create_lookuper()
        for shop in "ab":
            found = [canon.row(r, KEYED_NEW) for r in await lookuper.lookup({"shop": shop})]
            assert canon.differ(found, [r for r in want.values() if r["shop"] == shop]) is None
        limited = await t.limit(1000)
        assert canon.differ([r for rows in limited.values() for r in rows], self.rows()) is None
        assert canon.differ(list(fold(await t.scan(), t.pk).values()), self.rows()) is None

    def check_weir(self, server):
        weir, want = Weir(server.bootstrap), self.rows()
        for how in (["scan", self.t.name], ["scan", self.t.name, "--hot"], ["scan", self.t.name, "--limit", "1000"]):
            assert canon.differ([canon.row(r, KEYED_NEW) for r in weir.rows(*how)], want) is None, how
        some = [i for i in range(23) if i in self.model]
        got = weir.rows("get", self.t.name, *[json.dumps(key(i)) for i in some])
        assert [canon.row(r, KEYED_NEW) for r in got] == [canon.row(self.model[i], KEYED_NEW) for i in some]
        weir.run("get", self.t.name, json.dumps(key(4)), code=NO)


FORMS = {"v2": {}, "v1": {"table.kv.format-version": "1"}}


@pytest.mark.parametrize("flushed", [False, True], ids=["delta", "engine"])
async def test_rows_of_before_under_everything_that_is_done_after(server, connect, flushed):
    """Pains 66, 67, 69: upsert, partial update, delete, look-up, prefix, scan, limit scan, restart, lake, verify, per form."""
    if flushed:
        server.options["weir.kv.flush.interval"] = "1 s"
    server.start()
    before, now = await connect(server), await connect(server)
    all_forms = [Matrix(before, now) for _ in FORMS]
    for m, properties in zip(all_forms, FORMS.values()):
        await m.old_rows(lake=True, freshness="200ms", properties=properties)
    if flushed:
        await asyncio.sleep(2.5)  # the rows of before are in the engine
    for m in all_forms:
        await m.change(server)
        await m.check()
        m.check_weir(server)
    for m in all_forms:
        await m.t.lake(m.rows())
        await verify(server, m.t.name)
    server.restart()
    before, now = await connect(server), await connect(server)
    for m in all_forms:
        m.t, m.t0 = await now.open(m.t.path, KEYED_NEW, altered=True), await before.open(m.t0.path, KEYED)
        await m.check()
        m.check_weir(server)
        await partial(m.t, ["shop", "id", "s"], [{**key(i), "s": "after"} for i in (0, 3)])
        m.put(0, v="v0", s="after")
        m.put(3, v="v3", n=3, s="after")
        await m.check()
        await m.t.lake(m.rows())
        await verify(server, m.t.name)

FORMATS = [("INDEXED", "INDEXED"), ("COMPACTED", "COMPACTED")]


async def test_rows_and_logs_of_other_formats(server):
    """What pyfluss does not speak: weir writes and reads; from the delta, and after a restart."""
    server.start()
    weir, want = Weir(server.bootstrap), {i: {"id": i, "v": f"v{i}", "n": None, "s": None} for i in range(8)}
    names = [f"fluss.{kv}_{log}".lower() for kv, log in FORMATS]
    for name, (kv, log) in zip(names, FORMATS):
        weir.run("sql", f"CREATE TABLE {name} (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket.num' = '2', "
                        f"'table.kv.format' = '{kv}', 'table.log.format' = '{log}', 'table.datalake.enabled' = 'true', 'table.datalake.freshness' = '1s')")
        weir.run("put", name, *(json.dumps({"id": i, "v": f"v{i}"}) for i in want))
        weir.run("sql", f"ALTER TABLE {name} ADD (n INT, s STRING)")
        weir.run("put", name, '{"id": 1, "v": "w1", "n": 1, "s": "x"}', '{"id": 9, "v": "w9", "n": 9}')
        weir.run("delete", name, "2", "77")
    want |= {1: {"id": 1, "v": "w1", "n": 1, "s": "x"}, 9: {"id": 9, "v": "w9", "n": 9, "s": None}}
    del want[2]
    schema = pa.schema([("id", pa.int64()), ("v", pa.string()), *ADDED])
    for _ in range(2):
        for name in names:
            for how in (["scan", name], ["scan", name, "--hot"]):
                assert canon.differ(weir.rows(*how), want.values()) is None, (name, how)
            assert weir.rows("get", name, *map(str, sorted(want))) == [want[i] for i in sorted(want)]
            changes = weir.rows("tail", name, "--changes", "--from", "earliest", "--limit", "12")
            assert [c["v"] for c in changes if c["id"] == 1] == ["v1", "v1", "w1"] and all(c["n"] is None for c in changes if c["id"] == 2)
            await lake.until(server.warehouse, name, schema, [canon.row(r, schema) for r in want.values()])
            await verify(server, name)
        server.restart()


async def test_a_column_comes_with_its_aggregation_function(client, shared):
    weir, name = Weir(shared.bootstrap), client.path("sums").table_name
    weir.run("sql", f"CREATE TABLE {name} (id INT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('table.merge-engine' = 'aggregation', 'fields.v.agg' = 'max')")
    weir.run("put", name, '{"id": 1, "v": 5}')
    n = pa.field("n", pa.int64())
    assert error_of(shared, f"fluss.{name}", add_columns=[column(n, agg_function_type="no_such")]) == 15
    alter(shared, f"fluss.{name}", add_columns=[column(n, agg_function_type="SUM"), column(n.with_name("last"))])
    weir.run("put", name, '{"id": 1, "v": 3, "n": 2, "last": 7}', '{"id": 2, "v": 1, "n": 1}')
    weir.run("put", name, '{"id": 1, "v": 4, "n": 40}', '{"id": 2, "v": 9, "n": 1}')
    assert weir.rows("get", name, "1", "2") == [{"id": 1, "v": 5, "n": 42, "last": 7}, {"id": 2, "v": 9, "n": 2, "last": None}]
    plain = await client.create(OLD, buckets=1)
    assert error_of(shared, plain.name, add_columns=[column(n, agg_function_type="sum")]) == 39


# ---- a kill between the steps: pain 33 ----

def columns_of(server, name):
    with Wire(server.bootstrap) as w:
        return [c["name"] for c in json.loads(w.call("GET_TABLE_INFO", {"table_path": table_path(name)})["table_json"])["schema"]["columns"]]


def lake_columns(server, name):
    return [f.name for f in lake.open_table(server.warehouse, name).fields if not f.name.startswith("__")]


@pytest.mark.parametrize("pk", [None, ["shop", "id"]], ids=["log", "pk"])
@pytest.mark.parametrize("step", ["alter.begun", "alter.lake", "alter.stored"])
async def test_a_kill_between_lake_and_metadata_ends_with_both(server, connect, step, pk):
    schema, wider = (KEYED, KEYED_NEW) if pk else (OLD, NEW)
    server.options["weir.test.end-at"] = step
    server.start()
    t = await (await connect(server)).create(schema, pk, buckets=1, lake=True, freshness="200ms")
    old = [{**(key(i) if pk else {"id": i}), "v": "old"} for i in range(5)]
    await (t.upsert(old) if pk else t.append(old))
    await t.lake(t.rows(old))
    with pytest.raises(ConnectionError):
        add_columns(server, t.name, *ADDED)
    del server.options["weir.test.end-at"]
    server.process.wait()
    server.start()
    assert lake_columns(server, t.name) == wider.names
    t = await (await connect(server)).open(t.path, wider, altered=True)
    assert columns_of(server, t.name) == wider.names
    with pytest.raises(WireError) as e:
        add_columns(server, t.name, *ADDED)  # the client that got no answer asks again
    assert e.value.code == 56
    new = [{**(key(i) if pk else {"id": i}), "v": "new", "n": i, "s": "x"} for i in range(5, 9)]
    await (t.upsert(new) if pk else t.append(new))
    await t.lake(t.rows(old + new))
    await verify(server, t.name)
    server.restart()
    assert lake_columns(server, t.name) == wider.names


async def test_a_lake_that_refuses_leaves_the_table_as_it_was(server, connect):
    """And tiering goes on: what the lake does not take is not begun for ever."""
    server.start()
    t = await (await connect(server)).create(OLD, buckets=1, lake=True, freshness="200ms")
    directory = f"{server.warehouse}/{t.name.replace('.', '.db/')}"
    os.rename(f"{directory}/schema", f"{directory}/away")
    open(f"{directory}/schema", "w").close()
    with pytest.raises(WireError):
        add_columns(server, t.name, *ADDED)
    assert columns_of(server, t.name) == OLD.names
    server.restart()
    assert columns_of(server, t.name) == OLD.names
    os.unlink(f"{directory}/schema")
    os.rename(f"{directory}/away", f"{directory}/schema")
    add_columns(server, t.name, *ADDED)
    t = await (await connect(server)).open(t.path, NEW)
    await t.append([{"id": 1, "v": "a", "n": 2, "s": "b"}])
    await t.lake(t.rows([{"id": 1, "v": "a", "n": 2, "s": "b"}]))


async def test_a_lake_that_is_away_at_the_start_hears_of_it_later(server, connect):
    """Begun, killed, and the lake cannot be reached by the next start: the ALTER after it finishes both."""
    server.options["weir.test.end-at"] = "alter.begun"
    server.start()
    t = await (await connect(server)).create(OLD, buckets=1, lake=True)
    with pytest.raises(ConnectionError):
        add_columns(server, t.name, ADDED[0])
    del server.options["weir.test.end-at"]
    server.process.wait()
    directory = f"{server.warehouse}/{t.name.replace('.', '.db/')}"
    os.rename(f"{directory}/schema", f"{directory}/away")
    open(f"{directory}/schema", "w").close()
    server.start()
    assert columns_of(server, t.name) == OLD.names
    with pytest.raises(WireError):
        add_columns(server, t.name, ADDED[1])
    os.unlink(f"{directory}/schema")
    os.rename(f"{directory}/away", f"{directory}/schema")
    add_columns(server, t.name, ADDED[1])
    assert lake_columns(server, t.name) == NEW.names == columns_of(server, t.name)


async def test_altered_while_written_and_tiered(shared, connect):
    """Columns come one after the other while three writers write and rounds run: no round fails for ever, no row is lost."""
    clients = [await connect(shared) for _ in range(3)]
    t = await clients[0].create(KEYED, ["shop", "id"], buckets=2, bucket_keys=["shop"], lake=True, freshness="200ms")
    stop, rows = asyncio.Event(), {}

    async def write(client, first):
        table = await client.open(t.path, KEYED)
        for n in itertools.count():
            if stop.is_set():
                return
            r = {**key(first + n % 40), "v": f"{n}"}
            await table.upsert([r])
            rows[r["id"]] = r
            await asyncio.sleep(0.005)
    writers = [asyncio.ensure_future(write(c, 1000 * n)) for n, c in enumerate(clients)]
    schema = KEYED
    for n in range(6):
        await asyncio.sleep(0.3)
        await asyncio.to_thread(add_columns, shared, t.name, (f"c{n}", pa.int64()))
        schema = schema.append(pa.field(f"c{n}", pa.int64()))
    stop.set()
    await asyncio.gather(*writers)
    t = await (await connect(shared)).open(t.path, schema, altered=True)
    want = t.rows(rows.values())
    assert canon.differ(list(fold(await t.scan(), t.pk).values()), want) is None
    await t.lake(want)
    await verify(shared, t.name)
