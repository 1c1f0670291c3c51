"""kill -9 at any moment: what was acknowledged is there afterwards, each once; the stream and the lake agree again."""
import asyncio
import os
import random
import time

import fluss
import pyarrow as pa
import pytest

from conftest import LONG
from harness import canon, lake
from harness.client import fold

EVENTS = pa.schema([("id", pa.int64()), ("writer", pa.int32()), ("note", pa.string())])
USERS = pa.schema([pa.field("id", pa.int32(), nullable=False), ("version", pa.int64()), ("note", pa.string())])
KILLS = 40 if LONG else 6
pytestmark = [pytest.mark.own, pytest.mark.timeout(60 + 30 * KILLS)]
SEED = int(os.environ.get("WEIR_E2E_SEED", 1))


def note(i):
    return f"note {i} " + "x" * (i % 50)


class Load:
    """Writers that go on until the server is gone, and remember what was acknowledged."""

    def __init__(self):
        self.next_id = 0
        self.sent, self.acknowledged = {}, set()

    async def append(self, table, writer):
        while True:
            mine = range(self.next_id, self.next_id + random.randrange(1, 20))
            self.next_id = mine.stop
            rows = [{"id": i, "writer": writer, "note": note(i)} for i in mine]
            self.sent |= {r["id"]: r for r in rows}
            handles = [table.appender.append(r) for r in rows]
            for i, handle in zip(mine, handles):
                await handle.wait()
                self.acknowledged.add(i)

    def check(self, changes):
        """Each acknowledged row, each row at most once, none that nobody sent, offsets without a hole."""
        seen = [c.row["id"] for c in changes]
        assert len(seen) == len(set(seen)), f"rows twice: {sorted(i for i in set(seen) if seen.count(i) > 1)[:10]}"
        lost = self.acknowledged - set(seen)
        assert not lost, f"{len(lost)} acknowledged rows are gone, among them {sorted(lost)[:10]}"
        for c in changes:
            assert c.row == canon.row(self.sent[c.row["id"]], EVENTS)


async def until_killed(server, loads, seconds):
    """Runs the coroutines until the server is killed after that time; then they fail or hang, and are dropped."""
    tasks = [asyncio.create_task(x) for x in loads]
    await asyncio.sleep(seconds)
    for t in tasks:
        assert not t.done() or t.exception() is None, t.exception()
    server.kill()
    for t in tasks:
        t.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_acknowledged_rows_survive_each_once(server, connect):
    r, load, table_path = random.Random(SEED), Load(), None
    for n in range(KILLS):
        server.start()
        client = await connect(server)
        table = await (client.open(table_path, EVENTS) if table_path else client.create(EVENTS, buckets=3, lake=True))
        table_path = table.path
        load.check(await table.scan())
        writers = [await (await connect(server)).open(table_path, EVENTS) for _ in range(3)]
        await until_killed(server, [load.append(w, i) for i, w in enumerate(writers)], r.uniform(0.05, 1.5))
    server.bootstrap = None  # at another port, where the writers of before, who would send again, do not find it
    server.start()
    table = await (await connect(server)).open(table_path, EVENTS)
    changes = await table.scan()
    load.check(changes)
    assert len(load.acknowledged) > KILLS * 10, "the load was too small to mean anything"
    await table.lake([c.row for c in changes])
    await lake.nothing_dangling(server.warehouse, table.name)


async def test_a_writer_that_outlives_the_server_repeats_nothing(server, connect):
    """One client through all the kills: what it sends again is stored once. At the end everything it sent is there."""
    r = random.Random(SEED)
    server.start()
    client = await connect(server)
    table = await client.create(EVENTS)
    sent, stop = [], asyncio.Event()

    async def write():
        while not stop.is_set():
            row = {"id": len(sent), "writer": 0, "note": note(len(sent))}
            try:
                table.appender.append(row)
                sent.append(row)
            except fluss.FlussError as e:  # pyfluss has thrown away what it knows of the table and takes no row now
                assert e.error_code == fluss.ErrorCode.TABLE_NOT_EXIST
            await asyncio.sleep(0.002)
        await table.appender.flush()
    task = asyncio.create_task(write())
    for _ in range(KILLS):
        await asyncio.sleep(r.uniform(0.1, 0.8))
        server.restart()
    await asyncio.sleep(0.5)
    stop.set()
    await asyncio.wait_for(task, 60)
    fresh = await (await connect(server)).open(table.path, EVENTS)
    assert canon.differ([c.row for c in await fresh.scan()], fresh.rows(sent)) is None


async def test_acknowledged_upserts_survive_in_state_log_and_lake(server, connect):
    """Each key counts up. After each kill a key is at its last acknowledged version or at one sent after it, the look-up
    agrees with the changelog, and the lake with both."""
    r, sent, acknowledged, path = random.Random(SEED), {}, {}, None
    keys = list(range(40))

    async def count(table, mine):
        while True:
            chosen = random.sample(mine, 5)
            handles = []
            for k in chosen:
                sent[k] = sent.get(k, 0) + 1
                handles.append((k, sent[k], table.upserter.upsert({"id": k, "version": sent[k], "note": note(sent[k])})))
            for k, v, handle in handles:
                await handle.wait()
                acknowledged[k] = v
    for n in range(KILLS + 1):
        server.bootstrap = None  # at another port, where the writers of before, who would send again, do not find it
        server.start()
        client = await connect(server)
        table = await (client.open(path, USERS) if path else client.create(USERS, ["id"], buckets=2, lake=True))
        path = table.path
        state = {int(k[0]): row for k, row in fold(await table.scan(), ["id"]).items()}
        for k, found in zip(keys, await table.lookup([{"id": k} for k in keys])):
            assert found == state.get(k), f"key {k}: look-up {found}, changelog {state.get(k)}"
            version = found["version"] if found else 0
            assert acknowledged.get(k, 0) <= version <= sent.get(k, 0), f"key {k}: acknowledged {acknowledged.get(k)}, found {version}"
        if n == KILLS:
            break
        sent |= {k: max(sent.get(k, 0), state[k]["version"]) for k in state}
        writers = [await (await connect(server)).open(path, USERS) for _ in range(2)]
        await until_killed(server, [count(w, keys[i::2]) for i, w in enumerate(writers)], r.uniform(0.05, 1.5))
    await table.lake(list(state.values()))
    await lake.nothing_dangling(server.warehouse, table.name)


async def test_tables_and_their_drops_survive(server, connect):
    server.start()
    admin = (client := await connect(server)).admin
    await admin.create_database("kept")
    kept = await client.create(EVENTS)
    gone = await client.create(EVENTS)
    await kept.append([{"id": 1, "writer": 1, "note": "a"}])
    await admin.drop_table(gone.path)
    server.restart()
    admin = (client := await connect(server)).admin
    assert await admin.database_exists("kept")
    assert not await admin.table_exists(gone.path)
    again = await client.open(kept.path, EVENTS)
    assert again.id == kept.id and [c.row["id"] for c in await again.scan()] == [1]
    new = await client.create(EVENTS)
    assert new.id > gone.id, "a table id is never given twice"


async def test_a_clean_stop_is_quick_and_loses_nothing(server, connect):
    server.start()
    table = await (await connect(server)).create(EVENTS)
    rows = [{"id": i, "writer": 0, "note": note(i)} for i in range(1000)]
    await table.append(rows)
    server.stop()
    server.start()
    again = await (await connect(server)).open(table.path, EVENTS)
    assert [c.row for c in await again.scan()] == again.rows(rows)


def test_a_second_server_on_the_directory_is_refused(server, tmp_path):
    import subprocess

    from harness.server import BINARY
    server.start()
    second = subprocess.run([BINARY, "server", "--data-dir", str(server.data), "--listen", "127.0.0.1:0", "-D", "weir.http.listen=127.0.0.1:0"],
                            capture_output=True, text=True, timeout=20, cwd=tmp_path)
    assert second.returncode == 69 and "E-LOCKED" in second.stderr and "ready" not in second.stdout
    assert server.running()


async def test_it_serves_soon_after_a_kill_with_many_rows(server, connect):
    server.start()
    table = await (await connect(server)).create(EVENTS)
    batch = pa.RecordBatch.from_pylist([{"id": i, "writer": 0, "note": note(i)} for i in range(10000)], schema=EVENTS)
    for _ in range(30):
        table.appender.write_arrow_batch(batch)
    await table.appender.flush()
    server.kill()
    begin = time.monotonic()
    server.start()
    again = await (await connect(server)).open(table.path, EVENTS)
    assert await again.ends() == {0: 300000}
    assert time.monotonic() - begin < 5
