"""The oracle: lake and stream are proved equal where they are, at rest and under writers; whatever is done to the files of
the lake is found and named. And the reads of the command line that it stands on, and the demo."""
import asyncio
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import pyarrow as pa
import pytest

from harness import lake
from harness.server import BINARY, SLACK
from harness.types import TYPES, nested
from harness.weir import NO, UNKNOWN, YES, Weir, verify

EVENTS = pa.schema([pa.field("id", pa.int64(), nullable=False), ("v", pa.string())])
DEMO_SECONDS = 60


def event(i, v=0):
    return {"id": i, "v": f"event {i} v{v}"}


@pytest.mark.parametrize("pk", [None, ["id"]], ids=["log", "pk"])
async def test_rows_of_all_types_are_equal(client, shared, pk):
    r = random.Random(31)
    kinds = {n: (t[0], t[1], t[2]) for n, t in TYPES.items()}
    kinds |= {f"nested{i}_{name}"[:40]: (arrow, [], make) for i, (name, arrow, make) in enumerate(nested(r, depth=3) for _ in range(12))}
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), *((n, k[0]) for n, k in kinds.items())])
    t = await client.create(schema, pk, buckets=3, lake=True)
    rows = []
    for i in range(120):
        row = {"id": i}
        for n, (_, edges, make) in kinds.items():
            row[n] = None if r.random() < 0.15 else r.choice(edges) if edges and r.random() < 0.4 else make(r)
        rows.append(row)
    for part in (rows[:50], rows[50:]):
        await (t.upsert(part) if pk else t.append(part))
        verdict = await verify(shared, t.name)
    assert verdict["lake_rows"] == verdict["stream_rows"] == len(rows)
    assert verdict["lake_digest"] == verdict["stream_digest"] and int(verdict["lake_digest"], 16)


@pytest.mark.parametrize("pk", [None, ["id"]], ids=["log", "pk"])
async def test_it_proves_without_stopping_the_writers(client, shared, pk):
    t = await client.create(EVENTS, pk, buckets=4, lake=True)
    done = False

    async def write():
        n = 0
        while not done:
            rows = [event(n + i if pk is None else random.randrange(300), n) for i in range(20)]
            await (t.upsert(rows) if pk else t.append(rows))
            if pk and n % 100 == 0:
                await t.delete([{"id": random.randrange(300)} for _ in range(10)])
            n += 20
        return n
    writer = asyncio.create_task(write())
    ahead = 0
    for _ in range(6):
        verdict = await verify(shared, t.name)
        assert verdict["equal"] and verdict["stream_rows"] == verdict["lake_rows"]
        assert verdict["stream_now_digest"] == verdict["union_now_digest"]
        ahead += verdict["union_now_digest"] != verdict["lake_digest"]
    done = True
    written = await writer
    assert ahead, "the log was never ahead of the lake"
    verdict = await verify(shared, t.name)
    if pk is None:
        assert verdict["lake_rows"] == written


async def test_three_reads_give_the_same_rows(client, shared):
    weir = Weir(shared.bootstrap)
    for pk in (None, ["id"]):
        t = await client.create(EVENTS, pk, buckets=3, bucket_keys=["id"], lake=True)
        await (t.upsert if pk else t.append)([event(i % 70, i) for i in range(200)])
        if pk:
            await t.delete([{"id": 5}, {"id": 6}])
        lake_rows = sorted(weir.run("scan", f"{t.name}$lake", "--deadline", "60s").splitlines())
        assert len(lake_rows) == (68 if pk else 200)
        assert sorted(weir.run("scan", t.name).splitlines()) == lake_rows
        assert sorted(weir.run("scan", t.name, "--hot").splitlines()) == lake_rows
        assert len(weir.rows("scan", f"{t.name}$lake", "--limit", "7")) == 7
        system = weir.rows("scan", f"{t.name}$lake", "--system-columns")
        assert {r["__bucket"] for r in system} == {0, 1, 2} and all(r["__offset"] >= 0 for r in system)


async def test_a_table_without_lake_says_so(client, shared):
    weir = Weir(shared.bootstrap)
    t = await client.create(EVENTS)
    weir.run("verify", t.name, code=NO)
    assert "table.datalake.enabled" in weir.errors
    weir.run("scan", f"{t.name}$lake", code=NO)
    assert weir.run("scan", t.name) == ""


# ---- on a server of their own, whose tiering is off while hands are laid on the lake ----

own = pytest.mark.own


async def at_rest(server, connect, pk, rounds, buckets=2):
    """A table with some rounds in the lake, and a server that leaves the lake alone from then on."""
    server.options["weir.tier.enabled"] = "true"
    server.start()
    client = await connect(server)
    t = await client.create(EVENTS, pk, buckets=buckets, bucket_keys=["id"], lake=True)
    for rows in rounds:
        await (t.upsert if pk else t.append)(rows)
        await verify(server, t.name)
    server.stop()
    server.options["weir.tier.enabled"] = "false"
    server.start()
    return t


def data_files(server, name):
    """The data files of each bucket that the newest snapshot reads: bucket -> paths."""
    database, table = name.split(".")
    out = {}
    splits = lake.open_table(server.warehouse, name).new_read_builder().new_scan().plan().splits()
    for split in splits:
        for f in split.files:
            out.setdefault(split.bucket, []).append(f"{server.warehouse}/{database}.db/{table}/bucket-{split.bucket}/{f.file_name}")
    return {b: sorted(set(paths), key=os.path.getmtime) for b, paths in out.items()}


@own
async def test_rows_missing_and_doubled_are_named(server, connect):
    """One file of the lake takes the place of another: the rows of one are there twice, those of the other not at all."""
    t = await at_rest(server, connect, None, [[event(i) for i in range(30)], [event(100 + i) for i in range(5)]], buckets=1)
    first, second = data_files(server, t.name)[0]
    shutil.copyfile(second, first)
    weir = Weir(server.bootstrap)
    verdict = weir.verify(t.name, code=NO)
    assert "E-NOTEQUAL" in weir.errors and not verdict["equal"]
    assert verdict["stream_rows"] == 35 and verdict["lake_rows"] == 10 and verdict["differing_rows"] == 35
    assert len(verdict["differences"]) == 10
    for d in verdict["differences"]:
        assert d["bucket"] == 0 and d["in_stream"] == 1
        assert d["in_lake"] == (2 if d["row"]["id"] >= 100 else 0)
        assert d["row"] == event(d["row"]["id"])
    text = weir.run("verify", t.name, "-o", "table", code=NO)
    assert re.search(r"snapshot \d+ +lake +10 ", text) and "in_lake" in text and "event 1" in text


@own
async def test_an_old_row_under_a_key_is_named(server, connect):
    t = await at_rest(server, connect, ["id"], [[event(i) for i in range(40)], [event(7, 1)]], buckets=1)
    old, new = data_files(server, t.name)[0]
    weir = Weir(server.bootstrap)
    assert weir.verify(t.name)["lake_rows"] == 40
    os.truncate(new, 0)
    weir.run("verify", t.name, code=NO)
    assert "E-LAKE" in weir.errors
    os.unlink(new)
    weir.run("verify", t.name, code=NO)
    assert "E-LAKE" in weir.errors and os.path.basename(new) in weir.errors
    os.unlink(old)
    weir.run("verify", t.name, code=NO)


@own
async def test_every_byte_of_a_lake_file_counts(server, connect):
    """A bit is turned somewhere in a data file, many times: never is it called equal with other rows than the stream's."""
    t = await at_rest(server, connect, None, [[event(i) for i in range(60)]], buckets=1)
    weir, path = Weir(server.bootstrap), data_files(server, t.name)[0][0]
    want = sorted(weir.run("scan", t.name, "--hot").splitlines())
    with open(path, "rb") as f:
        good = f.read()
    r = random.Random(5)
    outcomes = {YES: 0, NO: 0}
    for _ in range(40):
        at = r.randrange(len(good))
        with open(path, "wb") as f:
            f.write(good[:at] + bytes([good[at] ^ 1 << r.randrange(8)]) + good[at + 1:])
        done = subprocess.run([BINARY, "verify", "--bootstrap", server.bootstrap, t.name], capture_output=True, text=True, timeout=60)
        assert done.returncode in outcomes, (at, done)
        outcomes[done.returncode] += 1
        if done.returncode == YES:  # statistics and names that nobody reads
            assert sorted(weir.run("scan", f"{t.name}$lake").splitlines()) == want, at
    assert outcomes[NO] > 10, outcomes


@own
async def test_the_deadline_is_kept(server, connect):
    server.options["weir.tier.enabled"] = "false"
    server.start()
    t = await (await connect(server)).create(EVENTS, lake=True)
    await t.append([event(i) for i in range(5)])
    weir, begin = Weir(server.bootstrap), time.monotonic()
    weir.run("verify", t.name, "--deadline", "1s", code=UNKNOWN)
    assert "E-DEADLINE" in weir.errors and "5 rows" in weir.errors
    weir.run("wait", t.name, "--deadline", "500ms", code=UNKNOWN)
    weir.run("scan", f"{t.name}$lake", "--deadline", "500ms", code=UNKNOWN)
    assert time.monotonic() - begin < 4 * SLACK
    weir.run("scan", f"{t.name}$lake", code=NO)
    assert "E-NOTYET" in weir.errors
    assert weir.run("scan", t.name).count("\n") == 5
    weir.run("verify", t.name, "--now", code=NO)
    assert "E-NOTYET" in weir.errors


# ---- demo ----

def demo_command(directory):
    return [BINARY, "demo", "--data-dir", str(directory), "--listen", "127.0.0.1:0", "-D", "weir.http.listen=127.0.0.1:0"]


@own
def test_the_demo_proves_itself_within_a_minute(tmp_path):
    begin = time.monotonic()
    done = subprocess.run(demo_command(tmp_path / "data"), capture_output=True, text=True, timeout=DEMO_SECONDS, cwd=tmp_path)
    assert done.returncode == YES, done
    assert time.monotonic() - begin < DEMO_SECONDS
    rows = {table: int(n.replace(" ", "")) for table, n in re.findall(r"^  (\w+) +stream ([\d ]+) rows", done.stdout, re.M)}
    assert done.stdout.count("   equal\n") == 2 and rows["orders"] > 1000 and rows["customers"] > 100, done.stdout
    for table, n in rows.items():
        assert lake.read_arrow(str(tmp_path / "data/lake"), f"fluss.{table}").num_rows == n
    again = subprocess.run(demo_command(tmp_path / "data"), capture_output=True, text=True, timeout=DEMO_SECONDS, cwd=tmp_path)
    assert again.returncode == YES and again.stdout.count("   equal\n") == 2, again


@own
def test_the_demo_goes_on_until_ctrl_c_on_a_terminal(tmp_path):
    mine, theirs = pty.openpty()
    demo = subprocess.Popen(demo_command(tmp_path / "data"), stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, start_new_session=True)
    os.close(theirs)
    seen = bytearray()

    def read():
        try:
            while part := os.read(mine, 1 << 16):
                seen.extend(part)
        except OSError:  # the terminal is gone
            pass
    reader = threading.Thread(target=read)
    reader.start()
    try:
        deadline = time.monotonic() + DEMO_SECONDS
        while b"until Ctrl-C" not in seen and demo.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        weir = Weir(re.search(rb"clients (\S+)", seen)[1].decode())
        before = weir.verify("orders")["lake_rows"]
        time.sleep(1)
        assert weir.verify("orders")["lake_rows"] > before
        demo.send_signal(signal.SIGINT)
        assert demo.wait(5 * SLACK) == YES
    finally:
        demo.kill()
        demo.wait()
        reader.join()
        os.close(mine)
    assert b"stopped: " in seen


@own
def test_the_demo_ends_at_ctrl_c_while_it_waits_for_the_lake(tmp_path):
    command = [*demo_command(tmp_path / "data"), "-D", "weir.tier.enabled=false"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path)
    while "as they are read now" not in (line := demo.stdout.readline()):
        assert line, "it ended before"
    time.sleep(1)
    begin = time.monotonic()
    demo.send_signal(signal.SIGINT)
    said = demo.communicate(timeout=60)[0]
    assert demo.returncode == UNKNOWN and "stopped before the proof" in said
    assert time.monotonic() - begin < 5 * SLACK
