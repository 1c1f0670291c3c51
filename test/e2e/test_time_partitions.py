"""Partitions by time (table.auto-partition.*): made ahead, dropped behind, altered; the unit tests hold the clock
(src/server/time_partition_test.c), here it is the real one."""
import datetime
import time

import pyarrow as pa
import pytest

from harness.server import Server
from harness.wire import WireError
from test_alter import alter
from test_partitions import SPEC_INVALID, Partitions, refused

ROWS = pa.schema([("id", pa.int64()), ("region", pa.string()), ("day", pa.string())])
pytestmark = pytest.mark.own
INVALID_TABLE, INVALID_CONFIG = 15, 39


@pytest.fixture(scope="module")
def often(tmp_path_factory):
    """A server that looks at its partitions ten times a second."""
    s = Server(tmp_path_factory.mktemp("often"), {"auto-partition.check.interval": "100 ms"}).start()
    yield s
    s.finish()


# Where it is about noon: the day must not end within a test.
HOURS = 12 - datetime.datetime.now(datetime.timezone.utc).hour
ZONE = f"GMT{HOURS:+03d}:00"


def options(**given):
    return {"table.auto-partition.enabled": "true", "table.auto-partition.time-zone": ZONE} | {
        f"table.auto-partition.{k.replace('_', '-')}": str(v) for k, v in given.items()}


def day(n):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=n, hours=HOURS)).strftime("%Y%m%d")


def settles(partitions, want, seconds=10):
    deadline = time.monotonic() + seconds
    while sorted(partitions.list()) != sorted(want):
        assert time.monotonic() < deadline, f"{sorted(partitions.list())}, not {sorted(want)}"
        time.sleep(0.05)


async def test_partitions_are_there_when_create_table_answers(connect, often):
    t = await (await connect(often)).create(ROWS, partition_keys=["day"], properties=options(num_precreate=4))
    assert sorted(Partitions(often, t.name).list()) == [day(n) for n in range(4)]
    await t.append([{"id": 1, "region": "eu", "day": day(1)}])


async def test_an_altered_retention_drops_and_an_altered_number_makes(connect, often):
    t = await (await connect(often)).create(ROWS, partition_keys=["day"], properties=options())
    p = Partitions(often, t.name)
    for n in (1, 2, 3):
        p.create({"day": day(-n)})
    refused(SPEC_INVALID, p.create, {"day": day(-8)})
    alter(often, t.name, ("table.auto-partition.num-retention", "2"))
    assert sorted(p.list()) == [day(n) for n in range(-2, 2)]
    alter(often, t.name, ("table.auto-partition.num-precreate", "3"))
    assert sorted(p.list()) == [day(n) for n in range(-2, 3)]
    alter(often, t.name, ("table.auto-partition.enabled", "false"), ("table.auto-partition.num-retention", "0"))
    p.create({"day": "by-hand"})
    time.sleep(0.3)
    assert sorted(p.list()) == [day(n) for n in range(-2, 3)] + ["by-hand"]
    with pytest.raises(WireError) as e:
        alter(often, t.name, ("table.auto-partition.time-unit", "HOUR"))
    assert e.value.code == 56


async def test_a_partition_that_somebody_drops_comes_back(connect, often):
    t = await (await connect(often)).create(ROWS, partition_keys=["day"], properties=options(num_precreate=2))
    p = Partitions(often, t.name)
    p.drop({"day": day(1)})
    settles(p, [day(0), day(1)])


async def test_of_several_keys_the_one_named_goes_by_time(connect, often):
    t = await (await connect(often)).create(ROWS, partition_keys=["region", "day"], properties=options(key="day"))
    p = Partitions(often, t.name)
    assert p.list() == {}
    for region in ("00", "eu"):
        for n in (-3, 0, 9):
            p.create({"region": region, "day": day(n)})
    alter(often, t.name, ("table.auto-partition.num-retention", "1"))
    settles(p, [f"{region}${day(n)}" for region in ("00", "eu") for n in (0, 9)])


@pytest.mark.parametrize("given, code", [
    ({"time_zone": "Mars/Olympus"}, INVALID_CONFIG), ({"time_zone": "UTC+8"}, INVALID_CONFIG), ({"time_unit": "WEEK"}, INVALID_CONFIG),
    ({"key": "region"}, INVALID_TABLE), ({"time_format": "dd-MM-yyyy"}, INVALID_TABLE)])
async def test_what_can_not_work_is_refused_at_create_table(connect, often, given, code):
    with pytest.raises(Exception) as e:
        await (await connect(often)).create(ROWS, partition_keys=["day"], properties=options(**given))
    assert getattr(e.value, "error_code", None) == code, e.value


@pytest.mark.parametrize("key", [None, ["id", "day"]], ids=["log", "pk"])
async def test_a_drop_waits_until_the_lake_has_the_rows(server, connect, key):
    """Pain 31. Without the tiering service nothing gets to the lake: what is past and has rows stays, what is past and
    empty goes. With it the rows land, then the partition goes; the lake keeps them."""
    server.options |= {"auto-partition.check.interval": "100 ms", "weir.tier.enabled": "false"}
    server.start()
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("region", pa.string()), pa.field("day", pa.string(), nullable=False)])
    t = await (await connect(server)).create(schema, key, buckets=2, lake=True, freshness="100ms", partition_keys=["day"], properties=options())
    rows = [{"id": i, "region": "eu", "day": day(n)} for i, n in enumerate([-5, -5, -5, -1, 0])]
    p = Partitions(server, t.name)
    for n in (-5, -4, -1):
        p.create({"day": day(n)})
    await (t.upsert(rows) if key else t.append(rows))
    alter(server, t.name, ("table.auto-partition.num-retention", "2"))
    held = [day(-5), day(-1), day(0), day(1)]
    settles(p, held)
    time.sleep(0.4)
    assert sorted(p.list()) == held
    server.options["weir.tier.enabled"] = "true"
    server.restart()
    settles(Partitions(server, t.name), held[1:], seconds=30)
    again = await (await connect(server)).open(t.path, schema)
    await again.lake(again.rows(rows))
