"""Databases and tables through pyfluss: what is made is described as it was asked for, and errors have their codes."""
import fluss
import pyarrow as pa
import pytest

from harness.client import _run

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), ("name", pa.string())])


def code(e):
    return e.value.error_code


async def test_the_default_database_is_there(client):
    assert "fluss" in await client.admin.list_databases()
    assert await client.admin.database_exists("fluss")


async def test_a_database_comes_and_goes(client):
    admin, name = client.admin, f"db_{_run}"
    assert not await admin.database_exists(name)
    await admin.create_database(name, fluss.DatabaseDescriptor(comment="of a test", custom_properties={"k": "v"}))
    assert await admin.database_exists(name) and name in await admin.list_databases()
    info = await admin.get_database_info(name)
    assert info.get_database_descriptor().comment == "of a test"
    assert info.get_database_descriptor().get_custom_properties() == {"k": "v"}
    with pytest.raises(fluss.FlussError) as e:
        await admin.create_database(name)
    assert code(e) == fluss.ErrorCode.DATABASE_ALREADY_EXIST
    await admin.create_database(name, ignore_if_exists=True)
    await admin.drop_database(name)
    assert not await admin.database_exists(name)
    with pytest.raises(fluss.FlussError) as e:
        await admin.drop_database(name)
    assert code(e) == fluss.ErrorCode.DATABASE_NOT_EXIST
    await admin.drop_database(name, ignore_if_not_exists=True)


async def test_a_database_with_tables_goes_only_with_them(client):
    admin, name = client.admin, f"full_{_run}"
    await admin.create_database(name)
    path = fluss.TablePath(name, "t")
    await admin.create_table(path, fluss.TableDescriptor(fluss.Schema(SCHEMA)))
    assert await admin.list_tables(name) == ["t"]
    with pytest.raises(fluss.FlussError) as e:
        await admin.drop_database(name, cascade=False)
    assert code(e) == fluss.ErrorCode.DATABASE_NOT_EMPTY
    assert await admin.table_exists(path)
    await admin.drop_database(name, cascade=True)
    assert not await admin.database_exists(name)


async def test_a_table_is_described_as_it_was_made(client):
    t = await client.create(SCHEMA, ["id"], buckets=3, comment="of a test", custom_properties={"k": "v"},
                            properties={"table.log.arrow.compression.type": "LZ4_FRAME"})
    info = await client.admin.get_table_info(t.path)
    assert (info.table_id, info.num_buckets, info.comment) == (t.id, 3, "of a test")
    assert info.get_primary_keys() == ["id"] and info.get_bucket_keys() == ["id"] and not info.is_partitioned()
    assert info.get_schema().get_columns() == [("id", "bigint NOT NULL"), ("name", "string")]
    assert info.get_custom_properties() == {"k": "v"}
    assert info.get_properties()["table.log.arrow.compression.type"] == "LZ4_FRAME"
    assert t.path.table_name in await client.admin.list_tables("fluss")


async def test_a_table_cannot_be_made_twice(client):
    t = await client.create(SCHEMA)
    descriptor = fluss.TableDescriptor(fluss.Schema(SCHEMA))
    with pytest.raises(fluss.FlussError) as e:
        await client.admin.create_table(t.path, descriptor)
    assert code(e) == fluss.ErrorCode.TABLE_ALREADY_EXIST
    await client.admin.create_table(t.path, descriptor, ignore_if_exists=True)
    assert (await client.admin.get_table_info(t.path)).table_id == t.id


async def test_a_dropped_table_is_gone(client):
    t = await client.create(SCHEMA)
    await t.append([{"id": 1, "name": "a"}])
    await client.admin.drop_table(t.path)
    assert not await client.admin.table_exists(t.path)
    for call in (client.admin.get_table_info(t.path), client.admin.drop_table(t.path)):
        with pytest.raises(fluss.FlussError) as e:
            await call
        assert code(e) == fluss.ErrorCode.TABLE_NOT_EXIST
    await client.admin.drop_table(t.path, ignore_if_not_exists=True)


async def test_a_table_made_again_is_another_one(client):
    t = await client.create(SCHEMA)
    await t.append([{"id": 1, "name": "old"}])
    await client.admin.drop_table(t.path)
    await client.admin.create_table(t.path, fluss.TableDescriptor(fluss.Schema(SCHEMA), bucket_count=1))
    await client.leaders(t.path, 1)
    info = await client.admin.get_table_info(t.path)
    assert info.table_id != t.id
    assert await client.admin.list_offsets(t.path, [0], fluss.OffsetSpec.latest()) == {0: 0}


@pytest.mark.parametrize("name", ["", "a b", "a/b", "..", "__x", "x" * 201, "é"])
async def test_a_bad_table_name_is_refused(client, name):
    with pytest.raises(fluss.FlussError) as e:
        await client.admin.create_table(fluss.TablePath("fluss", name), fluss.TableDescriptor(fluss.Schema(SCHEMA)))
    assert code(e) in (fluss.ErrorCode.INVALID_TABLE_EXCEPTION, fluss.ErrorCode.CLIENT_ERROR)


async def test_a_table_needs_its_database(client):
    with pytest.raises(fluss.FlussError) as e:
        await client.admin.create_table(fluss.TablePath(f"none_{_run}", "t"), fluss.TableDescriptor(fluss.Schema(SCHEMA)))
    assert code(e) == fluss.ErrorCode.DATABASE_NOT_EXIST


@pytest.mark.parametrize("properties", [{"table.no-such-option": "1"}, {"no.prefix": "1"}, {"table.log.format": "PARQUET"}, {"table.datalake.freshness": "soon"},
                                        {"table.merge-engine": "none-such"}], ids=lambda p: next(iter(p)))
async def test_a_bad_option_is_refused(client, properties):
    with pytest.raises(fluss.FlussError) as e:
        await client.create(SCHEMA, properties=properties)
    assert e.value.error_code in (fluss.ErrorCode.INVALID_CONFIG_EXCEPTION, fluss.ErrorCode.UNKNOWN_SERVER_ERROR, fluss.ErrorCode.INVALID_TABLE_EXCEPTION)


@pytest.mark.parametrize("column", ["__offset", "__bucket", "__timestamp", "_change_type", "_log_offset", "_commit_timestamp"])
async def test_a_column_of_the_system_is_refused(client, column):
    with pytest.raises(fluss.FlussError) as e:
        await client.create(pa.schema([("id", pa.int32()), (column, pa.int32())]))
    assert code(e) == fluss.ErrorCode.INVALID_TABLE_EXCEPTION


async def test_zero_buckets_are_refused(client):
    with pytest.raises(fluss.FlussError):
        await client.create(SCHEMA, buckets=0)


async def test_a_table_of_many_buckets_serves_each(client):
    t = await client.create(SCHEMA, buckets=64, bucket_keys=["id"])
    rows = [{"id": i, "name": "x"} for i in range(1000)]
    await t.append(rows)
    ends = await t.ends()
    assert len(ends) == 64 and sum(ends.values()) == 1000


async def test_offsets_of_a_bucket_that_is_not_there_are_an_error(client):
    t = await client.create(SCHEMA, buckets=2)
    with pytest.raises(fluss.FlussError):
        await client.admin.list_offsets(t.path, [7], fluss.OffsetSpec.latest())


async def test_no_lake_snapshot_yet_has_its_own_code(client):
    t = await client.create(SCHEMA)
    with pytest.raises(fluss.FlussError) as e:
        await client.admin.get_latest_lake_snapshot(t.path)
    assert code(e) == fluss.ErrorCode.LAKE_SNAPSHOT_NOT_EXIST


async def test_the_nodes_play_both_roles(client):
    nodes = await client.admin.get_server_nodes()
    assert {n.server_type for n in nodes} >= {"CoordinatorServer", "TabletServer"}
