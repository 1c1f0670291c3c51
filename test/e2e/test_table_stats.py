"""How many rows a table has, as GET_TABLE_STATS tells it, and how many scans it may have at once."""
import pyarrow as pa
import pytest

from harness import client as clients
from harness.engines import create_table
from harness.server import Server
from harness.weir import Weir, verify
from harness.wire import Wire

ROW = pa.schema([pa.field("id", pa.int32(), nullable=False), ("a", pa.string()), ("v", pa.int64())])
BUCKETS = 3
TABLES = {
    "none": {}, "first_row": {"table.merge-engine": "first_row"},
    "versioned": {"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "v"},
    "aggregation": {"table.merge-engine": "aggregation", "table.delete.behavior": "allow"},
    "wal": {"table.changelog.image": "WAL"},
}


def counts(server, t):
    """Rows of each bucket, or the error in its place."""
    with Wire(server.bootstrap) as wire:
        answer = wire.call("GET_TABLE_STATS", {"table_id": t.id, "buckets_req": [{"bucket_id": b} for b in range(t.buckets)]})
        return [b.get("row_count", -b.get("error_code", 0)) for b in answer["buckets_resp"]]


@pytest.mark.own
async def test_rows_are_counted_exactly(tmp_path):
    """Through crashes, with the state in memory and on disk. A WAL changelog can't be counted (15), but folded."""
    server = Server(tmp_path, {"weir.kv.flush.interval": "1 s"}).start()
    client = await clients.connect(server)
    paths, want = {}, {}
    for name, properties in TABLES.items():
        path = paths[name] = client.path(name)
        lake = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"} if name == "wal" else {}
        Weir(server.bootstrap).run("sql", create_table(path.table_name, ROW, ["id"], {**properties, **lake}, buckets=BUCKETS))
    for n in range(2):
        for name, path in paths.items():
            t = await client.open(path, ROW)
            await t.upsert([{"id": i, "a": "x", "v": i} for i in range(20 * n, 20 * n + 40)])
            await t.delete([{"id": i} for i in range(20 * n, 20 * n + 5)])
            some = t.handle.new_upsert().partial_update_by_name(["id", "a"]).create_writer() if name in ("none", "aggregation", "wal") else t.upserter
            some.upsert({"id": 1000 + n, "a": "y", "v": 1} if some is t.upserter else {"id": 1000 + n, "a": "y"})
            await some.flush()
            rows = await t.limit(1000)
            want[name] = [-15] * BUCKETS if name == "wal" else [len(rows[b]) for b in range(BUCKETS)]
            assert counts(server, t) == want[name], name
        await client.close()
        server.restart()
        client = await clients.connect(server)
        assert {name: counts(server, await client.open(path, ROW)) for name, path in paths.items()} == want
    t = await client.open(paths["wal"], ROW)
    before = [r for rows in (await t.limit(1000)).values() for r in rows]
    assert len(before) == 2 + 60 - 10 and {c.kind for c in await t.scan(count=2 * 40)} <= {"+U", "+I", "-D"}
    await t.lake(before)
    await verify(server, t.name)
    await client.close()
    server.finish()


async def test_scans_at_once_have_a_limit(client, shared):
    t = await client.create(ROW, ["id"], buckets=26)
    await t.upsert([{"id": i, "a": "x" * 50, "v": i} for i in range(2000)])
    with Wire(shared.bootstrap) as wire:
        def opened(bucket):
            answer = wire.call("SCAN_KV", {"bucket_scan_req": {"table_id": t.id, "bucket_id": bucket}, "batch_size_bytes": 100, "call_seq_id": 0})
            return answer.get("error_code", 0)
        assert [opened(0) for _ in range(9)] == [0] * 8 + [69]
        assert [opened(b) for b in range(1, 25) for _ in range(8)] == [0] * 192
        assert opened(25) == 69
    with Wire(shared.bootstrap) as wire:
        for _ in range(100):  # the other connection's end is seen soon
            code = opened(0)
            if not code:
                break
        assert code == 0
