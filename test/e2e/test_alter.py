"""ALTER TABLE and ALTER DATABASE: options, above all the lake of a table that has rows already. Columns: test_add_column.py."""
import json

import pyarrow as pa
import pytest

from harness import canon, lake
from harness.alter import add_columns, alter, alter_database
from harness.client import partial
from harness.partitions import Partitions
from harness.weir import USAGE, Weir, verify
from harness.wire import Wire, WireError, table_path

USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string())])
EVENTS = pa.schema([("id", pa.int64()), ("kind", pa.string())])
pytestmark = pytest.mark.own  # the errors are weir's


def error_of(server, name, *changes, how=alter, **more):
    with pytest.raises(WireError) as e:
        how(server, name, *changes, **more)
    return e.value.code


@pytest.mark.parametrize("key", [None, ["id"]], ids=["log", "pk"])
async def test_enabling_the_lake_brings_the_rows_that_are_there(client, shared, key):
    t = await client.create(USERS if key else EVENTS, key, buckets=2, lake=False)
    rows = [{"id": i, "name": f"n{i}"} if key else {"id": i, "kind": f"k{i}"} for i in range(50)]
    await (t.upsert(rows) if key else t.append(rows))
    alter(shared, t.name, ("table.datalake.enabled", "true"), ("table.datalake.freshness", "1s"))
    await t.lake(t.rows(rows))
    more = [{"id": 100 + i, **({"name": "later"} if key else {"kind": "later"})} for i in range(5)]
    await (t.upsert(more) if key else t.append(more))
    await t.lake(t.rows(rows + more))
    await verify(shared, t.name)


async def test_disabled_and_enabled_again_nothing_is_lost_or_doubled(client, shared):
    t = await client.create(EVENTS, buckets=1, lake=True)
    first = [{"id": i, "kind": "a"} for i in range(10)]
    await t.append(first)
    await t.lake(t.rows(first))
    alter(shared, t.name, ("table.datalake.enabled", "false"))
    second = [{"id": 10 + i, "kind": "b"} for i in range(10)]
    await t.append(second)
    assert len(lake.read(shared.warehouse, t.name, t.schema)) == 10
    alter(shared, t.name, ("table.datalake.enabled", "true"))
    await t.lake(t.rows(first + second))
    await verify(shared, t.name)


async def test_what_may_not_be_altered_is_refused_and_changes_nothing(client, shared):
    t = await client.create(EVENTS, buckets=1, lake=False)
    before = (await client.admin.get_table_info(t.path)).get_properties()
    assert error_of(shared, t.name, ("table.log.format", "INDEXED")) == 56
    assert error_of(shared, t.name, ("table.no.such.option", "1")) == 56
    assert error_of(shared, t.name, ("table.datalake.enabled", "maybe")) == 39
    assert error_of(shared, "fluss.no_such_table", ("a", "b")) == 7
    assert error_of(shared, t.name, ("a", "b"), drop_columns=[{"column_name": "kind"}]) == 56
    assert (await client.admin.get_table_info(t.path)).get_properties() == before


async def test_version_1_alters_too_and_the_number_of_buckets_stays(client, shared):
    t = await client.create(EVENTS, buckets=1, lake=False)
    request = {"table_path": table_path(t.name), "ignore_if_not_exists": False}
    with Wire(shared.bootstrap) as w:
        w.call("ALTER_TABLE", request | {"config_changes": [{"config_key": "owner", "config_value": "ops", "op_type": 0}]}, version=1)
        with pytest.raises(WireError, match="number of buckets") as e:
            w.call("ALTER_TABLE", request | {"modify_bucket_count": {"new_bucket_count": 3}}, version=1)
    assert e.value.code == -1
    info = await client.admin.get_table_info(t.path)
    assert info.get_custom_properties() == {"owner": "ops"} and info.num_buckets == 1


async def test_custom_options_are_set_removed_and_survive_a_restart(connect, server):
    server.start()
    t = await (await connect(server)).create(EVENTS, buckets=1)
    alter(server, t.name, ("owner", "ops"), ("note", "x"))
    alter(server, t.name, ("note", None))
    server.restart()
    info = await (await connect(server)).admin.get_table_info(t.path)
    assert info.get_custom_properties() == {"owner": "ops"}


async def test_columns_added_while_the_lake_was_off_are_there_when_it_is_on_again(client, shared):
    t = await client.create(EVENTS, buckets=1, lake=True)
    first = [{"id": i, "kind": "a"} for i in range(10)]
    await t.append(first)
    await t.lake(t.rows(first))
    alter(shared, t.name, ("table.datalake.enabled", "false"))
    add_columns(shared, t.name, ("n", pa.int32()))
    t = await client.open(t.path, pa.schema([*EVENTS, ("n", pa.int32())]))
    second = [{"id": 10, "kind": "b", "n": 5}]
    await t.append(second)
    alter(shared, t.name, ("table.datalake.enabled", "true"))
    await t.lake(t.rows(first + second))
    await verify(shared, t.name)


def database_of(server, name):
    with Wire(server.bootstrap) as w:
        info = w.call("GET_DATABASE_INFO", {"database_name": name})
    assert info["modified_time"] >= info["created_time"]
    return json.loads(info["database_json"])


def test_a_database_gets_and_loses_options_and_its_comment(server):
    server.start()
    with Wire(server.bootstrap) as w:
        w.call("CREATE_DATABASE", {"database_name": "d", "ignore_if_exists": 0, "database_json": b'{"version":1,"custom_properties":{"a":"1"}}'})
    alter_database(server, "d", ("b", "2"), ("a", "3"), comment="what it is for")
    assert database_of(server, "d") == {"version": 1, "comment": "what it is for", "custom_properties": {"a": "3", "b": "2"}}
    alter_database(server, "d", ("a", None), ("never", None))
    server.restart()
    assert database_of(server, "d") == {"version": 1, "comment": "what it is for", "custom_properties": {"b": "2"}}
    alter_database(server, "d", comment="")
    assert database_of(server, "d") == {"version": 1, "custom_properties": {"b": "2"}}
    assert error_of(server, "none", ("a", "1"), how=alter_database) == 4
    alter_database(server, "none", ("a", "1"), ignore=1)
    with Wire(server.bootstrap) as w, pytest.raises(WireError) as e:
        w.call("ALTER_DATABASE", {"database_name": "d", "ignore_if_not_exists": 0, "config_changes": [{"config_key": "a", "config_value": "1", "op_type": 2}]})
    assert e.value.code == -1


def test_weir_sql_alters(server):
    server.start()
    weir = Weir(server.bootstrap)
    weir.run("sql", "CREATE TABLE t (id INT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED)")
    weir.run("put", "t", '{"id": 1, "v": "old"}')
    assert weir.rows("sql", "ALTER TABLE t ADD (n DECIMAL(8, 3) COMMENT 'weight', r ROW<x INT, y ARRAY<STRING>>)") == [{"result": "altered table fluss.t"}]
    weir.run("put", "t", '{"id": 2, "v": "new", "n": 1.5, "r": {"x": 1, "y": ["a", null]}}')
    assert [(c["column"], c["type"], c["nullable"], c["comment"]) for c in weir.rows("sql", "DESCRIBE t")] == [
        ("id", "INT", False, None), ("v", "STRING", True, None), ("n", "DECIMAL(8, 3)", True, "weight"), ("r", "ROW<`x` INT, `y` ARRAY<STRING>>", True, None)]
    assert [(r["id"], r["n"], r["r"]) for r in weir.rows("get", "t", "1", "2")] == [(1, None, None), (2, 1.5, {"x": 1, "y": ["a", None]})]
    weir.run("sql", "ALTER TABLE t SET ('owner' = 'ops', 'table.datalake.enabled' = 'true'); ALTER TABLE t RESET ('never')")
    assert "'owner' = 'ops'" in weir.run("sql", "SHOW CREATE TABLE t")
    weir.verify("t", "--deadline", "60s")
    weir.run("sql", "ALTER TABLE t ADD n INT", code=USAGE)
    assert "E-INVALID-ALTER-TABLE" in weir.errors
    weir.run("sql", "ALTER TABLE IF EXISTS none ADD n INT; CREATE DATABASE d; ALTER DATABASE d SET ('a' = '1', 'b' = '2'); ALTER DATABASE d RESET ('b')")
    assert database_of(server, "d") == {"version": 1, "custom_properties": {"a": "1"}}


@pytest.mark.parametrize("key", [None, ["day", "id"]], ids=["log", "pk"])
async def test_partitions_hear_of_columns_and_of_the_lake(client, shared, key):
    """Partitions with rows of before only, of both, of after."""
    schema = pa.schema([pa.field("day", pa.string(), nullable=False), pa.field("id", pa.int32(), nullable=False), ("v", pa.string())])
    wider = schema.append(pa.field("n", pa.int64()))
    t = await client.create(schema, key, buckets=2, partition_keys=["day"])
    days = Partitions(shared, t.name)
    for day in "abcde":  # pyfluss meets new partitions one by one only
        days.create({"day": day})
    old = [{"day": d, "id": i, "v": "old"} for d in ("a", "b") for i in range(6)]
    await (t.upsert(old) if key else t.append(old))
    add_columns(shared, t.name, ("n", pa.int64()))
    t = await client.open(t.path, wider, altered=True)
    new = [{"day": d, "id": 10 + i, "v": "new", "n": i} for d in ("b", "c") for i in range(6)]
    await (t.upsert(new) if key else t.append(new))
    alter(shared, t.name, ("table.datalake.enabled", "true"), ("table.datalake.freshness", "1s"))
    await t.lake(t.rows(old + new))
    more = [{"day": d, "id": 20, "v": "more", "n": 5} for d in "abcd"]
    await (t.upsert(more) if key else t.append(more))
    if key:
        await partial(t, ["day", "id", "n"], [{"day": "a", "id": 0, "n": 7}])
        old[0] = {**old[0], "n": 7}
        assert await t.lookup([{"day": "a", "id": i} for i in (0, 1)]) == t.rows(old[:2])
    add_columns(shared, t.name, ("s", pa.string()))
    t = await client.open(t.path, wider.append(pa.field("s", pa.string())), altered=True)
    last = [{"day": d, "id": 30, "v": "last", "s": "x"} for d in "ae"]
    await (t.upsert(last) if key else t.append(last))
    await t.lake(t.rows(old + new + more + last))
    await verify(shared, t.name)
    got = Weir(shared.bootstrap).rows("scan", t.name)
    assert canon.differ([canon.row(r, t.schema) for r in got], t.rows(old + new + more + last)) is None
