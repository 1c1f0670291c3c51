"""Damaged files of one table: it is refused with its reason, all other tables go on."""
import asyncio
import random
import time

import pyarrow as pa
import pytest

from harness.weir import Weir
from harness.wire import Wire, log_batch, produce

LOG = pa.schema([("id", pa.int32()), ("text", pa.string())])
KEYED = pa.schema([pa.field("id", pa.int32(), nullable=False), ("text", pa.string())])
UNKNOWN_SERVER_ERROR = -1  # no client tries that again
pytestmark = pytest.mark.own


async def filled(client, name, **options):
    t = await client.create(KEYED if "pk" in options else LOG, name=name, **options)
    rows = [{"id": i, "text": f"{i}" * 50} for i in range(2000)]
    await (t.upsert if "pk" in options else t.append)(rows)
    return t


def folder(server, t):
    (path,) = server.data.glob(f"fluss/*-{t.id}")
    return path


async def test_one_damaged_table_keeps_no_other_from_serving(server, connect):
    server.options |= {"log.segment.file-size": "64kb", "weir.kv.flush.interval": "1 s"}
    server.start()
    client = await connect(server)
    well, well_keyed = await filled(client, "well"), await filled(client, "well_keyed", pk=["id"])
    cut, marked = await filled(client, "cut"), await filled(client, "marked", pk=["id"])
    behind = await filled(client, "behind", lake=True)
    for i in range(20):
        await cut.append([{"id": i, "text": random.randbytes(100).hex()} for _ in range(100)])
    deadline = time.monotonic() + 30
    weir = Weir(server.bootstrap)
    weir.run("wait", behind.name, "--deadline", "30s")
    while not (folder(server, marked) / "kv-0.mark").exists():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)
    server.stop()
    segments = sorted(folder(server, cut).glob("log-0/*.log"))
    assert len(segments) > 2
    segments[0].write_bytes(segments[0].read_bytes()[:1000])
    (folder(server, marked) / "kv-0.mark").write_bytes(b"nonsense")
    for segment in folder(server, behind).glob("log-0/*"):
        segment.unlink() if segment.suffix != ".log" else segment.write_bytes(b"")

    server.start()
    client = await connect(server)
    assert len(await (await client.open(well.path, LOG)).arrow()) == 2000
    assert await (await client.open(well_keyed.path, KEYED)).lookup([{"id": 7}]) == [{"id": 7, "text": "7" * 50}]
    with Wire(server.bootstrap) as w:
        for t in (cut, behind):
            (answer,) = w.call("PRODUCE_LOG", produce(t.id, log_batch()))["buckets_resp"]
            assert answer["error_code"] == UNKNOWN_SERVER_ERROR and answer["error_message"]
            (answer,) = w.call("LIST_OFFSETS", {"follower_server_id": -1, "offset_type": 1, "table_id": t.id, "bucket_id": [0]})["buckets_resp"]
            assert answer["error_code"] == UNKNOWN_SERVER_ERROR
        (answer,) = w.call("LOOKUP", {"table_id": marked.id, "buckets_req": [{"bucket_id": 0, "keys": [b"x" * 16]}]})["buckets_resp"]
        assert answer["error_code"] == UNKNOWN_SERVER_ERROR and "damaged" in answer["error_message"]
    shown = {r["table"]: r for r in weir.rows("tables")}
    for t, reason in ((cut, "were on disk"), (marked, "is damaged"), (behind, "its lake snapshot at 2000")):
        row = shown[t.path.table_name]
        assert reason in row["why"], row
        assert f"table={t.path.table_name}" in server.log.read_text()
    assert shown[well.path.table_name]["rows"] == 2000
    text = server.log.read_text()
    assert text.count("error bucket refused") == 3 and "E-DAMAGED" in text and "drop the table" in text

    await client.admin.drop_table(cut.path, False)
    assert not list(server.data.glob(f"fluss/*-{cut.id}"))
    server.restart()
    assert server.log.read_text().count("error bucket refused") == 5
