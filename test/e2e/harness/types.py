"""The types that pyfluss can make a column of, each with values at its edges and values from a random generator.

TYPES: name -> (Arrow type, edges, maker). Edges and made values are what a row may hold, by the limits of pyfluss 1.0.0
that exceptions.py names. A nested type is built from these by nested().
"""
import datetime as dt
import decimal
import math

import pyarrow as pa

UTC = dt.timezone.utc
TEXTS = ["", "a", "hello world", "é", "世界", "\U0001f600 \U0001f468", "x" * 300, " leading", "nul\0inside", "quote\"'\\\n\t"]


def _scaled(unscaled, scale):
    return decimal.Decimal(unscaled).scaleb(-scale, context=decimal.Context(prec=60))


def _decimals(precision, scale):
    top = 10**precision - 1
    return [_scaled(v, scale) for v in (0, 1, top, -top)]


def _decimal(precision, scale):
    def make(r):
        digits = r.randrange(1, precision + 1)
        return _scaled(r.randrange(-10**digits + 1, 10**digits), scale)
    return make


def _integer(bits):
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return [0, 1, -1, low, high], lambda r: r.choice([r.randrange(-100, 100), r.randrange(low, high + 1)])


def _instants(step_us, zone):
    """Edges and a maker of datetimes that are multiples of step_us. Below the millisecond only from 1970 on (exceptions.py)."""
    whole = [dt.datetime(1970, 1, 1), dt.datetime(2026, 8, 1, 12, 30, 15), dt.datetime(1900, 2, 28, 23, 59, 59), dt.datetime(1, 1, 1),
             dt.datetime(9999, 12, 30, 21, 59, 59), dt.datetime(2026, 8, 1, 1, 2, 3, 999999 // step_us * step_us)]
    whole += [dt.datetime(1969, 12, 31, 23, 59, 59, 999000)] if step_us <= 1000 else []
    if zone:
        whole = [v.replace(tzinfo=UTC) for v in whole]

    def make(r):
        micros = r.randrange(0, 10**6) // step_us * step_us
        return dt.datetime(1970, 1, 1, tzinfo=UTC if zone else None) + dt.timedelta(days=r.randrange(0, 30000), seconds=r.randrange(86400), microseconds=micros)
    return whole, make


def _nano_instants(zone):
    """TIMESTAMP(9) holds 1677 to 2262; by rows to the microsecond."""
    edges, make = _instants(1, zone)
    return [v for v in edges if 1700 < v.year < 2200], make


def _text(r):
    return "".join(r.choice("abcdefghij éß世") for _ in range(r.choice([0, 1, 3, 8, 20, 60])))


def _floats(narrow):
    edges = [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 2.0**-126, 2.0**127]
    return edges + ([] if narrow else [2.0**-1074, 1e308, 0.1]), lambda r: r.choice([float(r.randrange(-1000, 1000)) / 8, 2.0 ** r.randrange(-100, 100)])


def _seconds(r):
    return dt.time(r.randrange(24), r.randrange(60), r.randrange(60))


TYPES = {
    "boolean": (pa.bool_(), [True, False], lambda r: r.random() < 0.5),
    "tinyint": (pa.int8(), *_integer(8)),
    "smallint": (pa.int16(), *_integer(16)),
    "int": (pa.int32(), *_integer(32)),
    "bigint": (pa.int64(), *_integer(64)),
    "float": (pa.float32(), *_floats(True)),
    "double": (pa.float64(), *_floats(False)),
    "string": (pa.string(), TEXTS, _text),
    "bytes": (pa.binary(), [b"", b"\0", bytes(range(256))], lambda r: r.randbytes(r.choice([0, 1, 7, 8, 40]))),
    "binary4": (pa.binary(4), [b"\0\0\0\0", b"\xff\xff\xff\xff"], lambda r: r.randbytes(4)),
    "decimal5_2": (pa.decimal128(5, 2), _decimals(5, 2), _decimal(5, 2)),
    "decimal18_0": (pa.decimal128(18, 0), _decimals(18, 0), _decimal(18, 0)),
    "decimal24_4": (pa.decimal128(24, 4), _decimals(24, 4), _decimal(24, 4)),
    "decimal38_10": (pa.decimal128(38, 10), _decimals(38, 10), _decimal(38, 10)),
    "date": (pa.date32(), [dt.date(1970, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31)],
             lambda r: dt.date(1900, 1, 1) + dt.timedelta(days=r.randrange(80000))),
    "time0": (pa.time32("s"), [dt.time(0), dt.time(23, 59, 59)], _seconds),
    "time3": (pa.time32("ms"), [dt.time(0), dt.time(23, 59, 59, 999000)], lambda r: _seconds(r).replace(microsecond=r.randrange(1000) * 1000)),
    "timestamp0": (pa.timestamp("s"), *_instants(10**6, False)),
    "timestamp3": (pa.timestamp("ms"), *_instants(1000, False)),
    "timestamp6": (pa.timestamp("us"), *_instants(1, False)),
    "timestamp9": (pa.timestamp("ns"), *_nano_instants(False)),
    "ltz0": (pa.timestamp("s", tz="UTC"), *_instants(10**6, True)),
    "ltz3": (pa.timestamp("ms", tz="UTC"), *_instants(1000, True)),
    "ltz6": (pa.timestamp("us", tz="UTC"), *_instants(1, True)),
    "ltz9": (pa.timestamp("ns", tz="UTC"), *_nano_instants(True)),
}
# What may be a key: of these two different values never look the same, and pyfluss encodes them.
KEYS = ["boolean", "tinyint", "smallint", "int", "bigint", "string", "bytes", "binary4", "decimal5_2", "decimal24_4", "date", "time3",
        "timestamp3", "timestamp6", "ltz3", "ltz6"]
MAP_KEYS = ["int", "bigint", "string", "date", "smallint"]


def nested(r, depth=2):
    """A random ARRAY, MAP or ROW as (name, Arrow type, maker)."""
    def inner(but=None):
        if depth > 1 and r.random() < 0.3:
            return nested(r, depth - 1)
        name = r.choice([n for n in TYPES if n not in ("decimal38_10", but)])
        return name, TYPES[name][0], TYPES[name][2]

    def maybe(make, x, nulls=0.15):
        return None if x.random() < nulls else make(x)
    kind = r.choice(["array", "map", "row"])
    if kind == "array":
        name, t, make = inner()
        return f"array_{name}", pa.list_(t), lambda x: [maybe(make, x) for _ in range(x.choice([0, 1, 2, 5]))]
    if kind == "map":
        key = r.choice(MAP_KEYS)
        name, t, make = inner(but="decimal24_4")
        return f"map_{key}_{name}", pa.map_(TYPES[key][0], t), lambda x: {TYPES[key][2](x): maybe(make, x) for _ in range(x.choice([0, 1, 3]))}
    fields = [inner() for _ in range(r.choice([1, 2, 3]))]
    t = pa.struct([(f"f{i}_{f[0][:8]}", f[1]) for i, f in enumerate(fields)])
    return "row", t, lambda x: {t.field(i).name: maybe(f[2], x) for i, f in enumerate(fields)}
