"""Log tables through pyfluss: what is appended is read, in order, by every kind of scan."""
import asyncio
import random
import time

import fluss
import pyarrow as pa
import pytest

from harness import canon
from harness.types import TYPES, nested

SIMPLE = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64())])


def simple(i):
    return {"id": i, "name": None if i % 7 == 6 else f"name-{i}", "amount": i * 0.5}


async def test_rows_are_read_in_the_order_of_their_append(client):
    t = await client.create(SIMPLE)
    rows = [simple(i) for i in range(1000)]
    await t.append(rows)
    changes = await t.scan()
    assert [c.row for c in changes] == t.rows(rows)
    assert [c.offset for c in changes] == list(range(1000))
    assert {c.kind for c in changes} == {"+A"}


async def test_arrow_batches_and_rows_stand_in_one_log(client):
    t = await client.create(SIMPLE)
    rows = [simple(i) for i in range(300)]
    await t.append(rows[:100])
    await t.append_arrow(pa.RecordBatch.from_pylist(rows[100:200], schema=SIMPLE))
    await t.append(rows[200:])
    assert await t.arrow() == t.rows(rows)
    assert [c.row for c in await t.scan()] == t.rows(rows)


async def test_a_fresh_table_is_empty(client):
    t = await client.create(SIMPLE, buckets=3)
    assert await t.ends() == {0: 0, 1: 0, 2: 0}
    assert await t.arrow() == []
    assert await t.limit(10) == {0: [], 1: [], 2: []}


@pytest.mark.parametrize("columns", [["id"], ["amount", "id"], ["name"], ["amount", "name", "id"]], ids="-".join)
async def test_a_projection_gives_its_columns_in_its_order(client, columns):
    t = await client.create(SIMPLE, buckets=2)
    rows = [simple(i) for i in range(500)]
    await t.append(rows)
    want = [{c: r[c] for c in columns} for r in t.rows(rows)]
    by_arrow = await t.arrow(columns)
    assert [list(r) for r in by_arrow[:1]] == [columns]
    assert canon.differ(by_arrow, want) is None
    assert canon.differ([c.row for c in await t.scan(columns=columns)], want) is None


async def test_rows_spread_over_buckets_are_all_read_once(client):
    t = await client.create(SIMPLE, buckets=4, bucket_keys=["id"])
    rows = [simple(i) for i in range(2000)]
    await t.append(rows)
    changes = await t.scan()
    assert canon.differ([c.row for c in changes], t.rows(rows)) is None
    ends = await t.ends()
    for b, end in ends.items():
        assert [c.offset for c in changes if c.bucket == b] == list(range(end))
    assert all(ends.values()), "a bucket key must reach each bucket"
    by_id = {}
    for c in changes:
        assert by_id.setdefault(c.row["id"], c.bucket) == c.bucket


async def test_a_scan_starts_at_any_offset(client):
    t = await client.create(SIMPLE)
    rows = [simple(i) for i in range(100)]
    for i in range(0, 100, 10):  # ten batches: a start lies at the edge of one or inside
        await t.append(rows[i:i + 10])
    for start in (0, 1, 9, 10, 11, 55, 99):
        changes = await t.scan(start={0: start})
        assert [c.offset for c in changes] == list(range(start, 100)), start
        assert [c.row["id"] for c in changes] == list(range(start, 100)), start


async def test_offsets_by_timestamp_are_those_of_the_batches(client):
    t = await client.create(SIMPLE)
    before = int(time.time() * 1000)
    await t.append([simple(0)])
    await asyncio.sleep(0.05)
    await t.append([simple(1)])
    changes = await t.scan()
    first, second = (c.time for c in changes)
    assert before - 1000 <= first < second <= int(time.time() * 1000) + 1000
    assert await t.ends(fluss.OffsetSpec.earliest()) == {0: 0}
    assert await t.ends(fluss.OffsetSpec.latest()) == {0: 2}
    assert await t.ends(fluss.OffsetSpec.timestamp(first - 1)) == {0: 0}
    assert await t.ends(fluss.OffsetSpec.timestamp(second)) == {0: 1}


async def test_a_time_to_come_has_no_offset(client):
    t = await client.create(SIMPLE)
    await t.append([simple(0)])
    with pytest.raises(fluss.FlussError) as e:
        await t.ends(fluss.OffsetSpec.timestamp(int(time.time() * 1000) + 3_600_000))
    assert e.value.error_code == fluss.ErrorCode.INVALID_TIMESTAMP_EXCEPTION


async def test_a_limit_scan_gives_the_newest_rows_of_a_bucket(client):
    t = await client.create(SIMPLE)
    await t.append([simple(i) for i in range(50)])
    await t.append([simple(i) for i in range(50, 60)])
    assert [r["id"] for r in (await t.limit(10))[0]] == list(range(50, 60))
    assert len((await t.limit(1000))[0]) == 60
    assert [list(r) for r in (await t.limit(1, ["name"]))[0]] == [["name"]]


async def test_a_waiting_scan_sees_an_append_at_once(client):
    t = await client.create(SIMPLE)
    scan = asyncio.create_task(t.scan(count=1, seconds=20))
    await asyncio.sleep(0.7)  # longer than one long poll
    begin = time.monotonic()
    await t.append([simple(7)])
    assert (await scan)[0].row["id"] == 7
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize("codec", ["NONE", "LZ4_FRAME", "ZSTD"])
async def test_each_compression_is_read(client, codec):
    t = await client.create(SIMPLE, properties={"table.log.arrow.compression.type": codec})
    rows = [simple(i) for i in range(400)]
    await t.append(rows)
    assert await t.arrow() == t.rows(rows)
    assert await t.arrow(["name"]) == [{"name": r["name"]} for r in rows]


@pytest.mark.parametrize("name", TYPES)
async def test_each_type_keeps_its_values(client, name):
    arrow, edges, make = TYPES[name]
    t = await client.create(pa.schema([pa.field("id", pa.int32(), nullable=False), ("v", arrow), pa.field("w", arrow, nullable=False)]))
    r = random.Random(name)
    values = [None, *edges, *(make(r) for _ in range(20))]
    rows = [{"id": i, "v": v, "w": edges[i % len(edges)]} for i, v in enumerate(values)]
    await t.append(rows)
    assert canon.differ(await t.arrow(), t.rows(rows)) is None
    assert [c.row for c in await t.scan()] == t.rows(rows)


async def test_nested_types_keep_their_values(client):
    r = random.Random(5)
    kinds = [nested(r, depth=3) for _ in range(30)]
    schema = pa.schema([("id", pa.int32()), *((f"c{i}", k[1]) for i, k in enumerate(kinds))])
    t = await client.create(schema)
    rows = [{"id": i, **{f"c{n}": None if r.random() < 0.2 else k[2](r) for n, k in enumerate(kinds)}} for i in range(40)]
    await t.append(rows)
    assert canon.differ(await t.arrow(), t.rows(rows)) is None
    assert canon.differ([c.row for c in await t.scan()], t.rows(rows)) is None


async def test_many_writers_and_readers_at_once(client, shared, connect):
    t = await client.create(SIMPLE, buckets=2)
    others = [await connect(shared) for _ in range(4)]
    tables = [await c.open(t.path, SIMPLE) for c in others]

    async def write(n, table):
        for i in range(10):
            await table.append([simple(n * 1000 + i * 50 + k) for k in range(50)])
    _, *reads = await asyncio.gather(asyncio.gather(*(write(n, x) for n, x in enumerate(tables))), *(x.scan(count=2000, seconds=60) for x in tables))
    want = t.rows([simple(n * 1000 + i) for n in range(4) for i in range(500)])
    for changes in reads:
        assert canon.differ([c.row for c in changes], want) is None


async def test_a_row_of_a_megabyte(client):
    t = await client.create(SIMPLE)
    rows = [{"id": 1, "name": "x" * 1_000_000, "amount": None}, simple(2)]
    await t.append(rows)
    assert [c.row for c in await t.scan()] == t.rows(rows)


async def test_another_log_format_is_kept_or_refused(client):
    """The option is stored, or CREATE TABLE says that it is not served: never silently another format."""
    try:
        t = await client.create(SIMPLE, log_format="INDEXED")
    except fluss.FlussError as e:
        assert e.error_code > 0 and "indexed" in str(e).lower()
    else:
        assert t.handle.get_table_info().get_properties().get("table.log.format", "").upper() == "INDEXED"
