"""What is asked about kv snapshots, remote logs and health, by Flink and by the clients of 1.0.0: there is one server that
keeps its log, so there are none, and nothing to hold."""
import pyarrow as pa
import pytest

from harness.wire import Wire, WireError

USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("name", pa.string())])
TABLE_NOT_EXIST, NO_PRIMARY_KEY, UNKNOWN_BUCKET, PARTITION_NOT_EXISTS, NO_SNAPSHOT = 7, 20, 21, 36, 41
pytestmark = pytest.mark.own  # a stock server has snapshots


@pytest.fixture
def wire(shared):
    with Wire(shared.bootstrap) as w:
        yield w


def error_of(wire, api, fields, version=None):
    with pytest.raises(WireError) as e:
        wire.call(api, fields, version)
    return e.value


def acquire(*table_ids):
    return {"lease_id": "of a reader", "lease_duration_ms": 1000,
            "snapshots_to_lease": [{"table_id": t, "bucket_snapshots": [{"bucket_id": 1, "snapshot_id": 7}]} for t in table_ids]}


def release(*table_ids):
    return {"lease_id": "of a reader", "buckets_to_release": [{"table_id": t, "bucket_id": 1} for t in table_ids]}


async def test_a_lease_gets_none_of_the_snapshots_it_asks_for(client, wire):
    t = await client.create(USERS, ["id"], buckets=2)
    asked = acquire(t.id)
    assert wire.call("ACQUIRE_KV_SNAPSHOT_LEASE", asked)["unavailable_snapshots"] == asked["snapshots_to_lease"]


async def test_leases_are_renewed_released_and_dropped_without_a_word(client, wire):
    t = await client.create(USERS, ["id"], buckets=2)
    assert not wire.call("ACQUIRE_KV_SNAPSHOT_LEASE", acquire()).get("unavailable_snapshots")
    wire.call("RELEASE_KV_SNAPSHOT_LEASE", release(t.id))
    wire.call("DROP_KV_SNAPSHOT_LEASE", {"lease_id": "never acquired"})
    await client.admin.drop_table(t.path)
    wire.call("RELEASE_KV_SNAPSHOT_LEASE", release(t.id))


async def test_leases_are_for_tables_with_a_key(client, wire):
    t = await client.create(USERS)
    assert error_of(wire, "ACQUIRE_KV_SNAPSHOT_LEASE", acquire(t.id)).code == NO_PRIMARY_KEY
    assert error_of(wire, "RELEASE_KV_SNAPSHOT_LEASE", release(t.id)).code == NO_PRIMARY_KEY
    assert error_of(wire, "ACQUIRE_KV_SNAPSHOT_LEASE", acquire(1 << 40)).code == TABLE_NOT_EXIST


@pytest.mark.parametrize("version", [0, 1])
async def test_the_files_of_a_snapshot_are_refused_with_the_reason(client, wire, version):
    t = await client.create(USERS, ["id"])
    error = error_of(wire, "GET_KV_SNAPSHOT_METADATA", {"table_id": t.id, "bucket_id": 0, "snapshot_id": 3}, version)
    assert error.code == NO_SNAPSHOT and "earliest offset" in str(error)
    assert error_of(wire, "GET_KV_SNAPSHOT_METADATA", {"table_id": t.id, "bucket_id": 9, "snapshot_id": 3}, version).code == UNKNOWN_BUCKET


@pytest.mark.parametrize("api, items", [("LIST_KV_SNAPSHOTS", "active_snapshots"), ("LIST_REMOTE_LOG_MANIFESTS", "manifests")])
async def test_lists_of_remote_files_are_empty_for_what_is_there(client, wire, api, items):
    t = await client.create(USERS, ["id"], buckets=2)
    assert not wire.call(api, {"table_id": t.id}).get(items)
    assert error_of(wire, api, {"table_id": t.id, "partition_id": 1 << 40}).code == PARTITION_NOT_EXISTS
    assert error_of(wire, api, {"table_id": 1 << 40}).code == TABLE_NOT_EXIST


async def test_the_cluster_is_healthy_with_every_bucket_led(client, wire):
    before = wire.call("GET_CLUSTER_HEALTH", {})
    await client.create(USERS, ["id"], buckets=3)
    after = wire.call("GET_CLUSTER_HEALTH", {})
    assert after["num_replicas"] == before["num_replicas"] + 3
    assert after["status"] == 0 and len({after[k] for k in after if k != "status"}) == 1
