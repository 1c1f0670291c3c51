"""Logs of very many small segments: a server that keeps one batch in each."""
import pyarrow as pa
import pytest

from harness.weir import verify

EVENTS = pa.schema([pa.field("id", pa.int64(), nullable=False), ("note", pa.string())])
BATCHES = 150
FILES_MAX = 100  # descriptors of such a server

pytestmark = [pytest.mark.own, pytest.mark.timeout(180)]


def event(i, v=0):
    return {"id": i, "note": f"event {i} v{v}"}


async def test_a_segment_a_batch_is_written_read_restarted_and_tiered(server, connect):
    server.options["log.segment.file-size"] = "120b"
    server.start()
    client = await connect(server)
    log = await client.create(EVENTS, lake=True)
    keyed = await client.create(EVENTS, ["id"], lake=True)
    for i in range(BATCHES):
        await log.append([event(i)])
        await keyed.upsert([event(i % 50, i)])
    segments = len(list(server.data.glob("*/t_*/log-0/*.log")))
    assert segments > BATCHES * 3 / 2, segments  # some batches are joined by the client
    assert server.files_open() < FILES_MAX
    for killed in (False, True):
        changes = await log.scan()
        assert [c.row["id"] for c in changes] == list(range(BATCHES))
        assert [c.offset for c in changes] == list(range(BATCHES))
        [inside] = await log.scan(start={0: BATCHES - 1})
        assert inside.row["id"] == BATCHES - 1
        assert (await keyed.lookup([{"id": 7}]))[0]["note"] == event(7, BATCHES - 43)["note"]
        for table in (log, keyed):
            assert (await verify(server, table.name))["equal"]
        assert server.files_open() < FILES_MAX
        if not killed:
            server.restart()
    assert server.files_open() < FILES_MAX
