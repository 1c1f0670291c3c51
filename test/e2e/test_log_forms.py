"""Every form of batch that a client of either generation writes: kept as it came, read, projected, tiered; and batches left
away by their column statistics."""
import asyncio
import struct

import fluss
import pyarrow as pa
import pytest

from harness.weir import Weir, verify
from harness.wire import BATCH_ROWS, BATCH_SCHEMA, KEYS, SUCCESS, Wire, WireError, crc32c, decode, golden_batches, produce

TABLE = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
STAMP = 21  # bytes at the front that the server may change: base offset, length, magic, time
CRC_AT = {"v0": 21, "v1-of-0.9": 25, "v1-of-1.0": 21, "v2": 25}
HEADER = {"v0": 48, "v1-of-0.9": 52, "v1-of-1.0": 52, "v2": 56}


def appended(batch, magic):
    """A batch of rows as a log table has them: each record an append."""
    batch, at = bytearray(batch), HEADER[magic]
    while at < len(batch):
        batch[at + 4] = 0
        at += 4 + struct.unpack_from("<i", batch, at)[0]
    crc = CRC_AT[magic]
    struct.pack_into("<I", batch, crc, crc32c(batch[crc + 4:]))
    return bytes(batch)


def forms(log_format):
    """Name -> batch, of the rows of `simple`."""
    if log_format == "ARROW":
        return {i: b for i, b in golden_batches().items() if i.startswith("log/arrow/") and "/append/" in i and i.endswith(("/simple", "/writer", "/one-column"))}
    return {i: appended(b, i.split("/")[2]) for i, b in golden_batches().items() if i.startswith(f"log/{log_format.lower()}/") and i.endswith("/changelog/simple")}


def fetch(wire, table_id, offset, size=1 << 20, **table):
    request = {"follower_server_id": -1, "max_bytes": 16 << 20,
               "tables_req": [{"table_id": table_id, "projection_pushdown_enabled": "projected_fields" in table, **table,
                               "buckets_req": [{"bucket_id": 0, "fetch_offset": offset, "max_fetch_bytes": size}]}]}
    [bucket] = wire.call("FETCH_LOG", request)["tables_resp"][0]["buckets_resp"]
    return bucket


def split(records):
    while records:
        size = struct.unpack_from("<i", records, 8)[0] + 12
        yield records[:size]
        records = records[size:]


@pytest.mark.parametrize("log_format", ["ARROW", "INDEXED", "COMPACTED"])
async def test_every_magic_is_kept_read_and_tiered(client, shared, log_format):
    table = await client.create(TABLE, lake=True, properties={"table.log.format": log_format})
    sent = forms(log_format)
    assert {i.split("/")[2] for i in sent} == set(HEADER)
    with Wire(shared.bootstrap) as w:
        for n, (name, batch) in enumerate(sent.items()):
            for version in (0, 1):
                writer = bytearray(batch)
                at = CRC_AT[name.split("/")[2]]
                struct.pack_into("<h", writer, at + 4, 1)  # the first schema
                struct.pack_into("<qi", writer, at + 11, -1, -1)  # no writer: each time a new batch
                struct.pack_into("<I", writer, at, crc32c(writer[at + 4:]))
                sent[name] = bytes(writer)
                [bucket] = w.call("PRODUCE_LOG", produce(table.id, bytes(writer)), version=version)["buckets_resp"]
                assert bucket.get("base_offset") == (2 * n + version) * BATCH_ROWS, (name, bucket)
        end = 2 * len(sent) * BATCH_ROWS
        got = list(split(fetch(w, table.id, 0)["records"]))
        for n, (batch, name) in enumerate(zip(got, [name for name in sent for _ in (0, 1)])):
            assert batch[STAMP:] == sent[name][STAMP:], name
            assert struct.unpack_from("<q", batch)[0] == n * BATCH_ROWS
        # From inside a batch: the whole batch; from each offset of it the same one.
        for offset in range(2 * BATCH_ROWS, 3 * BATCH_ROWS):
            assert fetch(w, table.id, offset, size=1)["records"] == got[2]
        if log_format == "ARROW":
            for n, whole in enumerate(got):
                narrow = fetch(w, table.id, n * BATCH_ROWS + 2, size=1, projected_fields=[0])["records"]
                assert len(narrow) < len(whole) and narrow[:8] == whole[:8]
        else:
            with pytest.raises(AssertionError):
                assert "records" in fetch(w, table.id, 0, projected_fields=[0])
    rows = await asyncio.to_thread(Weir(shared.bootstrap).rows, "scan", table.name, "--hot")
    assert len(rows) == end and rows[0] == rows[BATCH_ROWS]
    verdict = await verify(shared, table.name)
    assert verdict["lake_rows"] == end


# ---- batches that a server does not look into: compressed ones ----


def text_array(values):
    """A column of texts with any bytes in them."""
    ends = [0]
    for v in values:
        ends.append(ends[-1] + len(v))
    return pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(struct.pack(f"<{len(ends)}i", *ends)), pa.py_buffer(b"".join(values))])


async def test_texts_that_are_not_utf8_become_so_in_every_read(client, shared):
    """Of a compressed batch weir takes them, and all that reads it sees U+FFFD; an uncompressed one it refuses."""
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("note", pa.string())])
    notes = [b"fine", b"no \xff good", "gr\u00fcn".encode(), b"cut \xe2\x82", b""]
    batch = pa.RecordBatch.from_arrays([pa.array(range(len(notes)), pa.int64()), text_array(notes)], schema=schema)
    t = await client.create(schema, lake=True)
    await t.append_arrow(batch)
    want = [{"id": i, "note": n.decode(errors="replace")} for i, n in enumerate(notes)]
    await t.lake(t.rows(want))
    assert (await verify(shared, t.name))["lake_rows"] == len(notes)
    for how in ([], ["--hot"]):
        assert sorted((await asyncio.to_thread(Weir(shared.bootstrap).rows, "scan", t.name, *how)), key=lambda r: r["id"]) == want
    plain = await client.create(schema, properties={"table.log.arrow.compression.type": "NONE"})
    with pytest.raises(Exception, match="a text in the column 'note' is not UTF-8"):
        await plain.appender.write_arrow_batch(batch).wait()
    assert await plain.ends() == {0: 0}


async def test_a_compressed_batch_of_nonsense_stops_its_table_alone(client, shared):
    weir = Weir(shared.bootstrap)
    broken, fine = await client.create(TABLE, lake=True), await client.create(TABLE, lake=True)
    rows = [{"a": i, "b": "x"} for i in range(3)]
    await broken.append(rows)
    await broken.lake(broken.rows(rows))
    batch = bytearray(golden_batches()["log/arrow/v0/append/ZSTD/simple"])
    at = batch.rindex(b"\xff" * 8)  # the last buffer is as it was: now it is said to be compressed
    struct.pack_into("<q", batch, at, 9)
    struct.pack_into("<h", batch, 25, 1)
    struct.pack_into("<qi", batch, 32, -1, -1)
    struct.pack_into("<I", batch, 21, crc32c(batch[25:]))
    with Wire(shared.bootstrap) as w:
        [bucket] = w.call("PRODUCE_LOG", produce(broken.id, bytes(batch)))["buckets_resp"]
    assert bucket.get("base_offset") == 3, "nobody looks into it"
    for _ in range(100):
        [told] = await asyncio.to_thread(weir.rows, "tables", broken.name)
        if told["state"] == "failing":
            break
        await asyncio.sleep(0.1)
    assert told["state"] == "failing" and told["why"].startswith("E-UNREADABLE: bucket 0, the batch of offsets 3 to 7: "), told
    assert "drop the table" in told["why"] and told["lake_rows"] == 3
    await asyncio.to_thread(lambda: weir.run("scan", broken.name, code=None))
    assert weir.code and "E-UNREADABLE" in weir.errors and "drop the table" in weir.errors
    await fine.append(rows)
    await fine.lake(fine.rows(rows), seconds=15)
    await client.admin.drop_table(broken.path)


# ---- batches left away ----

EVENTS = pa.schema([pa.field("id", pa.int64()), pa.field("note", pa.string())])
STATISTICS = {"table.statistics.columns": "*"}
LESS, EQUAL, AND, LEAF, COMPOUND, BIGINT = 2, 0, 0, 0, 1, 4


def leaf(function, value, column=0):
    literal = {"literal_type": BIGINT, "is_null": False, "bigint_value": value}
    return {"type": LEAF, "leaf": {"function": function, "field_id": column, "literals": [literal]}}


async def numbered(client, batches, **more):
    """One batch a number, its rows all with it as id."""
    table = await client.create(EVENTS, properties=STATISTICS, **more)
    for n in batches:
        await table.append_arrow(pa.RecordBatch.from_pylist([{"id": n, "note": f"{n}.{i}"} for i in range(3)], EVENTS))
    return table


async def test_an_answer_says_how_far_it_left_batches_away(client, shared):
    table = await numbered(client, [1, 2, 3, 1, 5, 6])
    with Wire(shared.bootstrap) as w:
        def ask(predicate, offset=0, **more):
            got = fetch(w, table.id, offset, filter_predicate=predicate, filter_schema_id=1, **more)
            return [struct.unpack_from("<q", b)[0] for b in split(got["records"])], got.get("filtered_end_offset")
        assert ask(leaf(EQUAL, 1)) == ([0, 9], 18)
        assert ask(leaf(EQUAL, 6)) == ([15], None)  # nothing behind it was left away
        assert ask(leaf(EQUAL, 7)) == ([], 18)
        assert ask(leaf(EQUAL, 7), offset=4) == ([], 18)
        assert ask(leaf(EQUAL, 7), offset=18) == ([], None)
        assert ask(leaf(LESS, 3), offset=4) == ([3, 9], 18)  # the batch that holds the offset
        assert ask(leaf(LESS, 3), projected_fields=[1]) == ([0, 3, 9], 18)
        both = {"type": COMPOUND, "compound": {"function": AND, "children": [leaf(LESS, 3), leaf(LESS, 2)]}}
        assert ask(both) == ([0, 9], 18)
        everything = ([0, 3, 6, 9, 12, 15], None)
        assert ask(leaf(EQUAL, 1, column=9)) == everything  # no such column
        assert ask({"type": 7}) == everything
        assert ask({"type": COMPOUND}) == everything
        whole = fetch(w, table.id, 0, filter_predicate=leaf(EQUAL, 1), filter_schema_id=7)
        assert "filtered_end_offset" not in whole and len(list(split(whole["records"]))) == 6


async def test_a_fetch_that_waits_keeps_its_condition(client, shared):
    """While it waits, other requests of its connection come into the memory that it came in."""
    table = await numbered(client, [1])
    note = {"literal_type": 8, "is_null": False, "string_value": "5.1"}
    request = {"follower_server_id": -1, "max_bytes": 16 << 20, "min_bytes": 1, "max_wait_ms": 20000,
               "tables_req": [{"table_id": table.id, "projection_pushdown_enabled": False, "filter_schema_id": 1,
                               "filter_predicate": {"type": LEAF, "leaf": {"function": EQUAL, "field_id": 1, "literals": [note]}},
                               "buckets_req": [{"bucket_id": 0, "fetch_offset": 3, "max_fetch_bytes": 1 << 20}]}]}
    with Wire(shared.bootstrap, timeout=30) as w:
        waiting = w.send("FETCH_LOG", request)
        for size in (100, 1000, 10000):
            assert w.call("DATABASE_EXISTS", {"database_name": "z" * size}) == {"exists": False}
        await table.append_arrow(pa.RecordBatch.from_pylist([{"id": 5, "note": f"5.{i}"} for i in range(3)], EVENTS))
        kind, answered, body = await asyncio.to_thread(w.receive)
        assert (kind, answered) == (SUCCESS, waiting)
        [bucket] = decode(KEYS["FETCH_LOG"]["response"], body)["tables_resp"][0]["buckets_resp"]
        assert [struct.unpack_from("<q", b)[0] for b in split(bucket["records"])] == [3] and "filtered_end_offset" not in bucket


async def test_small_limits_still_reach_what_matches(client, shared):
    table = await numbered(client, [1] * 10 + [2] + [1] * 10 + [2])
    with Wire(shared.bootstrap) as w:
        offset, seen = 0, []
        for _ in range(100):
            got = fetch(w, table.id, offset, size=1, filter_predicate=leaf(EQUAL, 2), filter_schema_id=1)
            for batch in split(got["records"]):
                seen.append(struct.unpack_from("<q", batch)[0])
                offset = seen[-1] + 3
            offset = max(offset, got.get("filtered_end_offset", 0))
            if offset == 66:
                break
        assert seen == [30, 63]


async def test_weirs_own_writer_puts_statistics_in(client, shared):
    table = await client.create(EVENTS, properties={"table.statistics.columns": "id"})
    weir = Weir(shared.bootstrap)
    for n in (1, 2):
        await asyncio.to_thread(weir.run, "put", table.name, stdin="".join(f'{{"id": {n}, "note": "{i}"}}\n' for i in range(3)))
    with Wire(shared.bootstrap) as w:
        got = fetch(w, table.id, 0, filter_predicate=leaf(EQUAL, 2), filter_schema_id=1)
        [batch] = split(got["records"])
        assert (struct.unpack_from("<q", batch)[0], batch[12]) == (3, 1)
    assert [c.row["id"] for c in await table.scan()] == [1, 1, 1, 2, 2, 2]


async def test_a_filtered_scan_goes_on_when_rows_come_that_match(client):
    table = await numbered(client, range(30))
    scanner = await table.handle.new_scan().filter(fluss.col("id") >= 100).create_log_scanner()
    scanner.subscribe_buckets({0: fluss.EARLIEST_OFFSET})
    assert not [r for r in await scanner.poll(300)]
    for n in (50, 100, 51, 101):
        await table.append_arrow(pa.RecordBatch.from_pylist([{"id": n, "note": "late"}], EVENTS))
    seen = []
    for _ in range(100):
        seen += [r.row["id"] for records in (await scanner.poll(200)).items() for r in records[1]]
        if len(seen) == 2:
            break
    assert seen == [100, 101]


async def test_a_write_to_an_expired_partition_is_refused_by_name(client, shared):
    table = await client.create(TABLE)
    request = produce(table.id, b"")
    request["buckets_req"][0]["original_partition_name"] = "2020"
    with Wire(shared.bootstrap) as w:
        [bucket] = w.call("PRODUCE_LOG", request, version=1)["buckets_resp"]
        assert (bucket["error_code"], bucket["original_partition_name"]) == (36, "2020")
