"""ALTER TABLE: options of a table, above all the lake of a table that has rows already."""
import pyarrow as pa
import pytest

from harness import lake
from harness.weir import verify
from harness.wire import Wire, WireError, table_path

USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string())])
EVENTS = pa.schema([("id", pa.int64()), ("kind", pa.string())])
SET, RESET = 0, 1
pytestmark = pytest.mark.own  # the errors are weir's


def alter(server, name, *changes, **more):
    """changes: (key, value), value None to reset."""
    configs = [{"config_key": k, "op_type": RESET} if v is None else {"config_key": k, "config_value": v, "op_type": SET}
               for k, v in changes]
    with Wire(server.bootstrap) as w:
        return w.call("ALTER_TABLE", {"table_path": table_path(name), "ignore_if_not_exists": 0, "config_changes": configs, **more})


def error_of(server, name, *changes, **more):
    with pytest.raises(WireError) as e:
        alter(server, name, *changes, **more)
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
    column = {"column_name": "c", "data_type_json": b'{"type":"INTEGER"}', "column_position_type": 0}
    assert error_of(shared, t.name, add_columns=[column]) == -1
    assert error_of(shared, t.name, ("a", "b"), add_columns=[column]) == 56
    assert (await client.admin.get_table_info(t.path)).get_properties() == before


async def test_custom_options_are_set_removed_and_survive_a_restart(connect, server):
    server.start()
    t = await (await connect(server)).create(EVENTS, buckets=1)
    alter(server, t.name, ("owner", "ops"), ("note", "x"))
    alter(server, t.name, ("note", None))
    server.restart()
    info = await (await connect(server)).admin.get_table_info(t.path)
    assert info.get_custom_properties() == {"owner": "ops"}
