"""Bytes that no client would send: an error or a closed connection, and memory stays bounded. The server goes on."""
import asyncio
import random
import socket
import struct
import threading
import time

import pyarrow as pa
import pytest

from harness.weir import Weir, verify
from harness.wire import BATCH_ROWS, BATCH_SCHEMA, ERROR, KEYS, SUCCESS, Wire, WireError, crc32c, encode, log_batch, produce, table_path

TABLE = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
MIB = 1 << 20
pytestmark = pytest.mark.own  # stock leaves most of these without an answer


def alive(server):
    """It answers a new connection, at once."""
    begin = time.monotonic()
    with Wire(server.bootstrap) as w:
        assert w.call("DATABASE_EXISTS", {"database_name": "fluss"}) == {"exists": 1}
    assert time.monotonic() - begin < 5


def refused(wire, data):
    """Sends it; the server answers with an error or closes, and says nothing else."""
    try:
        wire.raw(data)
        wire.socket.shutdown(socket.SHUT_WR)
        kind, _, _ = wire.receive()
        return kind != SUCCESS
    except (ConnectionError, BrokenPipeError):
        return True


def header(size, key=1004, version=0, request=1):
    return struct.pack(">ihhi", size, key, version, request)


@pytest.mark.parametrize("size", [-1, 0, 7, -2**31, 2**31 - 1, 2**30], ids=str)
def test_a_frame_of_a_wrong_length_closes_the_connection(shared, size):
    before = shared.resident_bytes()
    with Wire(shared.bootstrap) as w:
        assert refused(w, header(size) + b"x" * 100)
    assert shared.resident_bytes() - before < 64 * MIB
    alive(shared)


def test_a_frame_that_never_ends_is_not_reserved_for(shared):
    """100 connections each announce the longest frame that is allowed and send its first bytes only."""
    before, wires = shared.resident_bytes(), []
    for _ in range(100):
        w = Wire(shared.bootstrap)
        w.raw(header(100 * MIB) + b"x" * 1000)
        wires.append(w)
    time.sleep(0.5)
    assert shared.resident_bytes() - before < 100 * MIB
    alive(shared)
    for w in wires:
        w.socket.close()


@pytest.mark.parametrize("key", [-1, 0, 999, 2000, 32767], ids=str)
def test_an_unknown_key_is_answered_with_an_error(shared, key):
    with Wire(shared.bootstrap) as w:
        w.raw(header(8, key=key))
        assert w.receive()[0] == ERROR
        assert w.call("DATABASE_EXISTS", {"database_name": "fluss"}) == {"exists": 1}, "the connection goes on"


def test_an_unknown_version_is_answered_with_an_error(shared):
    with Wire(shared.bootstrap) as w:
        with pytest.raises(WireError) as e:
            w.call("DATABASE_EXISTS", {"database_name": "fluss"}, version=99)
        assert e.value.code == 2


def test_a_body_that_is_no_message_is_answered_with_an_error(shared):
    with Wire(shared.bootstrap) as w:
        for body in (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05ab", b"\x07", b"\x80" * 11, b""):
            w.send("DATABASE_EXISTS", body)
            assert w.receive()[0] == ERROR, body
        assert w.call("DATABASE_EXISTS", {"database_name": "fluss"}) == {"exists": 1}


async def test_each_request_cut_off_anywhere_is_answered(client, shared):
    """Requests cut at each byte, each in a frame of the right length: an answer or an error, never silence."""
    t = await client.create(TABLE)
    path = table_path(t.name)
    fetch = {"follower_server_id": -1, "max_bytes": 1000, "tables_req": [{"table_id": t.id, "projection_pushdown_enabled": False, "buckets_req": [
        {"bucket_id": 0, "fetch_offset": 0, "max_fetch_bytes": 1000}]}]}
    requests = [("GET_TABLE_INFO", {"table_path": path}), ("TABLE_EXISTS", {"table_path": path}), ("LIST_TABLES", {"database_name": "fluss"}),
                ("GET_METADATA", {"table_path": [path]}), ("PRODUCE_LOG", produce(t.id, log_batch())), ("FETCH_LOG", fetch),
                ("LIST_OFFSETS", {"follower_server_id": -1, "offset_type": 0, "table_id": t.id, "bucket_id": [0]}),
                ("LIMIT_SCAN", {"table_id": t.id, "bucket_id": 0, "limit": 1}), ("GET_LAKE_SNAPSHOT", {"table_path": path})]
    for api, fields in requests:
        body = encode(KEYS[api]["request"], fields)
        with Wire(shared.bootstrap) as w:
            for cut in range(len(body)):
                sent = w.send(api, body[:cut])
                _, answered, _ = w.receive()
                assert answered == sent, f"{api} cut to {cut} of {len(body)} bytes"
    alive(shared)


def test_bytes_at_random_do_no_harm(shared):
    r = random.Random(11)
    for n in range(300):
        try:
            with Wire(shared.bootstrap, timeout=2, hello=n % 3 != 0) as w:
                if n % 2:
                    key = r.choice(list(KEYS.values()))["api_key"]
                    body = r.randbytes(r.choice([0, 1, 5, 20, 200]))
                    w.raw(header(8 + len(body), key, r.choice([0, 0, 1, -1]), r.randrange(100)) + body)
                else:
                    w.raw(r.randbytes(r.choice([1, 3, 4, 12, 100])))
                w.socket.shutdown(socket.SHUT_WR)
                w.socket.recv(1000)
        except (OSError, WireError):
            pass
    alive(shared)


def test_a_slow_sender_holds_up_nobody(shared):
    """A request of one byte each 20 ms beside others; it is answered when it is whole."""
    with Wire(shared.bootstrap) as slow:
        body = encode("DatabaseExistsRequest", {"database_name": "fluss"})
        for b in header(8 + len(body), KEYS["DATABASE_EXISTS"]["api_key"]) + body:
            slow.raw(bytes([b]))
            time.sleep(0.02)
            alive(shared) if b % 8 == 0 else None
        assert slow.receive()[0] == SUCCESS


async def test_a_slow_reader_keeps_memory_bounded(client, shared):
    """Fetches without end and no reading of the answers: the server stops reading, it does not pile up."""
    t = await client.create(TABLE)
    batch = log_batch()
    with Wire(shared.bootstrap) as w:
        for _ in range(20):
            w.call("PRODUCE_LOG", produce(t.id, batch * 400))
    before = shared.resident_bytes()
    bucket = {"bucket_id": 0, "fetch_offset": 0, "max_fetch_bytes": 2 * MIB}
    fetch = {"follower_server_id": -1, "max_bytes": 16 * MIB, "tables_req": [{"table_id": t.id, "projection_pushdown_enabled": False, "buckets_req": [bucket]}]}
    with Wire(shared.bootstrap, timeout=1) as w:
        sent = 0
        try:
            for _ in range(500):
                w.send("FETCH_LOG", fetch)
                sent += 1
        except OSError:
            pass
        await asyncio.sleep(1)
        assert sent > 10
        assert shared.resident_bytes() - before < 200 * MIB
        alive(shared)


def test_pipelined_requests_beyond_the_queue_are_all_answered(shared):
    with Wire(shared.bootstrap) as w:
        frames = b"".join(header(8 + 7, KEYS["DATABASE_EXISTS"]["api_key"], 0, i) + b"\x0a\x05fluss" for i in range(3000))
        w.socket.setblocking(True)
        w.raw(frames)
        answered = {w.receive()[1] for _ in range(3000)}
        assert answered == set(range(3000))


async def test_a_pipeline_of_heavy_calls_holds_up_nobody(client, shared):
    """One connection asks for hundreds of scans at once, each of which may block; another asks for one meanwhile."""
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), ("text", pa.string())])
    t = await client.create(schema, ["id"])
    await t.upsert([{"id": i, "text": "x" * 100} for i in range(4_000)])
    scan = {"table_id": t.id, "bucket_id": 0, "limit": 4_000}
    small = {**scan, "limit": 1}

    def race():
        with Wire(shared.bootstrap, timeout=60) as busy, Wire(shared.bootstrap, timeout=60) as other:
            count, answered, waited = 120, [], []
            reader = threading.Thread(target=lambda: [answered.append(busy.receive()[0]) for _ in range(count)])
            begin = time.monotonic()
            for _ in range(count):
                busy.send("LIMIT_SCAN", scan)
            reader.start()
            while reader.is_alive():
                at = time.monotonic()
                assert "error_code" not in other.call("LIMIT_SCAN", small)
                waited.append(time.monotonic() - at)
            reader.join()
            return answered, time.monotonic() - begin, waited
    answered, took, waited = await asyncio.to_thread(race)
    assert answered == [SUCCESS] * 120
    assert max(waited) < max(took / 4, 0.5), (took, sorted(waited)[-5:])
    assert len(waited) > 5, (took, waited)


def test_many_connections_leave_nothing_behind(shared):
    files = shared.files_open()
    wires = [Wire(shared.bootstrap) for _ in range(300)]
    alive(shared)
    for w in wires:
        w.socket.close()
    deadline = time.monotonic() + 10
    while shared.files_open() > files + 5:
        assert time.monotonic() < deadline, f"{shared.files_open()} descriptors, {files} before"
        time.sleep(0.1)


def mutations(batch):
    """Batches with one thing wrong; the CRC does not cover the first 25 bytes."""
    yield "crc", batch[:30] + bytes([batch[30] ^ 1]) + batch[31:]
    yield "length too long", batch[:8] + struct.pack("<i", len(batch)) + batch[12:]
    yield "length negative", batch[:8] + struct.pack("<i", -5) + batch[12:]
    yield "length huge", batch[:8] + struct.pack("<i", 2**31 - 1) + batch[12:]
    yield "magic", batch[:12] + b"\x77" + batch[13:]
    yield "cut", batch[:-1]
    yield "header only", batch[:20]
    yield "trailing bytes", batch + b"\0\0\0"


async def test_a_batch_that_is_wrong_is_refused_whole(client, shared):
    t = await client.create(TABLE)
    good = log_batch()
    with Wire(shared.bootstrap) as w:
        for name, bad in mutations(good):
            try:
                (answer,) = w.call("PRODUCE_LOG", produce(t.id, bad))["buckets_resp"]
            except WireError:
                continue
            assert answer.get("error_code"), name
        assert "error_code" not in w.call("PRODUCE_LOG", produce(t.id, good))["buckets_resp"][0]
    assert await t.ends() == {0: BATCH_ROWS}
    assert len(await t.arrow()) == BATCH_ROWS


async def test_lake_snapshots_that_can_not_be_are_refused(client, shared):
    """Made-up content of the requests with which workers tell what is in the lake: it would pass for tiered."""
    rows = [{"a": i, "b": "x"} for i in range(9)]
    t = await client.create(TABLE, lake=True, buckets=2)
    other = await client.create(TABLE, lake=True)
    plain = await client.create(TABLE)
    for table in (t, other, plain):
        await table.append(rows)
    await t.lake(t.rows(rows))
    await asyncio.to_thread(Weir(shared.bootstrap).run, "wait", t.name)
    ends = await t.ends()

    def prepare(w, table, offsets, name=None):
        buckets = [{"bucket_id": b, "log_end_offset": o, **more} for b, o, more in offsets]
        fields = {"table_id": table.id, "table_path": table_path(name or table.name), "bucket_offsets": buckets}
        (answer,) = w.call("PREPARE_LAKE_TABLE_SNAPSHOT", {"bucket_offsets": [fields]})["prepare_lake_table_resp"]
        return answer

    def commit(w, table, snapshot, path):
        fields = {"table_id": table.id, "snapshot_id": snapshot, "tiered_bucket_offsets_file_path": path}
        (answer,) = w.call("COMMIT_LAKE_TABLE_SNAPSHOT", {"lake_table_snapshot_metadata": [fields]})["table_resp"]
        return answer.get("error_code")

    with Wire(shared.bootstrap) as w:
        for want, offsets in ((19, [(0, 10**6, {})]), (50, [(b, o - 1, {}) for b, o in ends.items() if o]), (21, [(2, 0, {})]),
                              (21, [(-1, 0, {})]), (21, [(0, 0, {"partition_id": 0})]), (-1, [(0, -7, {})])):
            assert prepare(w, t, offsets).get("error_code") == want, offsets
        assert prepare(w, t, [], name=other.name)["error_code"] == 7
        assert prepare(w, plain, [(0, 1, {})])["error_code"] == 15, "a table that is not for the lake"
        good = prepare(w, t, [(b, o, {}) for b, o in ends.items()])["lake_table_offsets_path"]
        latest = w.call("GET_LAKE_SNAPSHOT", {"table_path": table_path(t.name)})["snapshot_id"]
        for want, table, snapshot, path in ((53, t, 10**6, good), (53, t, 0, good), (53, t, -1, good), (-1, other, 1, good),
                                            (53, plain, 1, good), (-1, t, latest, "/etc/passwd"), (7, t.__class__, 1, good)):
            if table is t.__class__:
                table = type("gone", (), {"id": 10**6})
            assert commit(w, table, snapshot, path) in ({21, 7} if want == 7 else {want}), (snapshot, path)
        assert w.call("GET_LAKE_SNAPSHOT", {"table_path": table_path(t.name)})["snapshot_id"] == latest
    await t.append(rows)
    await t.lake(t.rows(rows + rows))
    await verify(shared, t.name)


async def test_a_schema_or_table_that_is_not_there_is_refused(client, shared):
    t = await client.create(TABLE)
    batch = bytearray(log_batch())
    struct.pack_into("<h", batch, 25, 99)
    struct.pack_into("<I", batch, 21, crc32c(batch[25:]))
    with Wire(shared.bootstrap) as w:
        for table_id, records, bucket in ((t.id, bytes(batch), 0), (t.id + 10**6, log_batch(), 0), (t.id, log_batch(), 9), (t.id, log_batch(), -1)):
            try:
                (answer,) = w.call("PRODUCE_LOG", produce(table_id, records, bucket))["buckets_resp"]
            except WireError:
                continue
            assert answer.get("error_code"), (table_id, bucket)
        assert w.call("GET_TABLE_INFO", {"table_path": table_path(t.name)})["table_id"] == t.id
    assert await t.ends() == {0: 0}
