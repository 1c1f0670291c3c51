"""A full disk: writes get an error that a client tries again, reads go on, writes resume by themselves."""
import asyncio
import errno
import os
import pathlib
import subprocess
import time

import pyarrow as pa
import pytest

from harness.wire import BATCH_ROWS, BATCH_SCHEMA, Wire, WireError, log_batch, produce

TABLE = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
MIB = 1 << 20
RETRIABLE = {10, 26, 70}  # LOG_STORAGE_EXCEPTION, STORAGE_EXCEPTION, DISK_WRITE_LOCKED
pytestmark = pytest.mark.own


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 MiB of its own: ext4 on a loop device, or where that cannot be had a tmpfs."""
    at = tmp_path / "disk"
    at.mkdir()
    image = tmp_path / "image"
    with open(image, "wb") as f:
        f.truncate(64 * MIB)
    loop = subprocess.run(f"mkfs.ext4 -q -m 0 -O ^has_journal {image} && mount -o loop {image} {at}", shell=True, capture_output=True)
    if loop.returncode and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", at], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here: needs root")
    yield at
    subprocess.run(["umount", "-l", at], check=True)


def fill(directory, leave):
    """A file that takes what is free but for leave bytes."""
    stat = os.statvfs(directory)
    size = stat.f_bavail * stat.f_bsize - leave
    path = pathlib.Path(directory) / "ballast"
    with open(path, "wb", buffering=0) as f:
        try:
            while size > 0:
                size -= f.write(b"x" * min(size, MIB if size > MIB else 4096))
        except OSError as e:  # the file system's own needs came on top
            assert e.errno == errno.ENOSPC
    return path


def append(wire, table, sequence, writer):
    """0 or the code of the error."""
    try:
        (answer,) = wire.call("PRODUCE_LOG", produce(table.id, log_batch(writer, sequence)))["buckets_resp"]
        return answer.get("error_code", 0)
    except WireError as e:
        return e.code


async def test_a_full_disk_refuses_writes_and_serves_reads(server, small_disk, connect):
    server.directory, server.data = small_disk, small_disk / "data"
    server.log = small_disk.parent / "weir.log"
    server.start()
    client = await connect(server)
    t = await client.create(TABLE)
    for round_ in range(3):
        before = (await t.ends())[0]
        ballast = fill(small_disk, 256 * 1024)
        with Wire(server.bootstrap, timeout=30) as w:
            writer = w.call("INIT_WRITER", {"table_path": []})["writer_id"]
            good = 0
            while (code := append(w, t, good, writer)) == 0:
                good += 1
                assert good < 100_000, "the disk never got full"
            assert code in RETRIABLE, code
            assert (await t.ends())[0] == before + good * BATCH_ROWS
            assert len(await t.arrow()) == before + good * BATCH_ROWS, "reads go on"
            assert append(w, t, good, writer) in RETRIABLE, "still full"
            ballast.unlink()
            for _ in range(100):
                if (code := append(w, t, good, writer)) == 0:
                    break
                assert code in RETRIABLE, code
                await asyncio.sleep(0.1)
            assert code == 0, "writes resume by themselves"
        assert (await t.ends())[0] == before + (good + 1) * BATCH_ROWS
        if round_ == 1:
            server.restart()
            client = await connect(server)
            t = await client.open(t.path, TABLE)
    assert "E-DISK" in server.log.read_text(errors="replace")


KEYED = pa.schema([pa.field("id", pa.int32(), nullable=False), ("v", pa.string())])


async def test_a_start_on_a_full_disk_serves_reads(server, small_disk, connect):
    """With not one byte left, again and again, after kills and after a clean stop: a log, and a state with an engine."""
    server.directory, server.data = small_disk, small_disk / "data"
    server.log = small_disk.parent / "weir.log"
    server.options["weir.kv.flush.interval"] = "1 s"
    server.start()
    client = await connect(server)
    t, keyed = await client.create(TABLE), await client.create(KEYED, ["id"])
    await t.append([{"a": i, "b": "x"} for i in range(500)])
    await keyed.upsert([{"id": i, "v": "old"} for i in range(100)])
    deadline = time.monotonic() + 20
    while not list(server.data.glob("fluss/*/kv-0.mark")):
        assert time.monotonic() < deadline, "no engine"
        await asyncio.sleep(0.1)
    ballast, rows = fill(small_disk, 0), 500
    for end in (server.kill, server.kill, server.stop):
        end()
        server.start()
        client = await connect(server)
        t, keyed = await client.open(t.path, TABLE), await client.open(keyed.path, KEYED)
        assert len(await t.arrow()) == rows
        assert [r["v"] for r in await keyed.lookup([{"id": i} for i in range(100)])] == ["old"] * 100
        with Wire(server.bootstrap, timeout=30) as w:
            while (code := append(w, t, 0, -1)) == 0:  # a recovery gives back what was preallocated
                rows += BATCH_ROWS
            assert code in RETRIABLE
    ballast.unlink()
    mark = next(server.data.glob("fluss/*/kv-0.mark"))
    before, deadline = mark.read_bytes(), time.monotonic() + 20
    await keyed.upsert([{"id": i, "v": "new"} for i in range(50)])
    while mark.read_bytes() == before:  # the engine, which was opened on the full disk, takes rows again
        assert time.monotonic() < deadline, "no rows in the engine"
        await asyncio.sleep(0.1)
    server.restart()
    client = await connect(server)
    t, keyed = await client.open(t.path, TABLE), await client.open(keyed.path, KEYED)
    assert [r["v"] for r in await keyed.lookup([{"id": i} for i in range(100)])] == ["new"] * 50 + ["old"] * 50
    await t.append([{"a": 500, "b": "y"}])
    assert len(await t.arrow()) == rows + 1


async def test_upserts_on_a_full_disk_change_nothing_that_was_not_acknowledged(server, small_disk, connect):
    server.directory, server.data = small_disk, small_disk / "data"
    server.log = small_disk.parent / "weir.log"
    server.start()
    client = await connect(server)
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), ("v", pa.string())])
    t = await client.create(schema, ["id"])
    await t.upsert([{"id": i, "v": "old"} for i in range(100)])
    ballast = fill(small_disk, 128 * 1024)
    other = await (await connect(server, **{"writer.retries": "0", "writer.enable-idempotence": "false"})).open(t.path, schema)
    refused = False
    for n in range(200):
        try:
            handles = [other.upserter.upsert({"id": i, "v": f"{n} {os.urandom(100).hex()}"}) for i in range(100)]
            for handle in handles:  # flush() would not tell
                await handle.wait()
        except Exception:
            refused = True
            break
    assert refused, "the disk never got full"
    found = await t.lookup([{"id": i} for i in range(100)])
    assert all(f is not None for f in found), "look-ups go on"
    ballast.unlink()
    fresh = await (await connect(server)).open(t.path, schema)
    for _ in range(50):
        try:
            await asyncio.wait_for(fresh.upsert([{"id": 0, "v": "new"}]), 10)
            break
        except Exception:
            await asyncio.sleep(0.2)
    assert (await fresh.lookup([{"id": 0}]))[0]["v"] == "new"
