"""Values in one form, whoever read them: a row of pyfluss, an Arrow array of pyfluss or pypaimon, or the model.

float -> its shortest text ("-0.0", "nan", "inf"); decimal -> plain text with the scale of its type; bytes -> hex;
date -> ISO text; time -> milliseconds; timestamp -> nanoseconds since 1970 (of an instant in UTC); map -> sorted pairs;
struct -> dict; the rest as it is. Only milliseconds of a time: Paimon and the record scanner hold no more.
"""
import datetime as dt
import decimal
import json
import struct
from collections import Counter

import pyarrow as pa

NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_EPOCH = dt.datetime(1970, 1, 1)
_UTC_EPOCH = _EPOCH.replace(tzinfo=dt.timezone.utc)


def timestamp_ns(value):
    """A datetime (naive or aware), or an int that is nanoseconds already."""
    if isinstance(value, int):
        return value
    if hasattr(value, "value"):  # pandas.Timestamp
        return value.value
    since = value - (_UTC_EPOCH if value.tzinfo else _EPOCH)
    return (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000


def _time_ms(value):
    return value if isinstance(value, int) else ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000


def _float(value, narrow):
    return repr(struct.unpack("<f", struct.pack("<f", value))[0] if narrow else float(value))


def _decimal(value, scale):
    return format(value.quantize(decimal.Decimal(1).scaleb(-scale), context=decimal.Context(prec=60)), "f")


def value(v, t):
    """A Python value of the Arrow type t."""
    if v is None:
        return None
    if pa.types.is_floating(t):
        return _float(v, pa.types.is_float32(t))
    if pa.types.is_decimal(t):
        return _decimal(v, t.scale)
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t) or pa.types.is_large_binary(t):
        return bytes(v).hex()
    if pa.types.is_date(t):
        return v.isoformat()
    if pa.types.is_time(t):
        return _time_ms(v)
    if pa.types.is_timestamp(t):
        return timestamp_ns(v)
    if pa.types.is_map(t):
        pairs = v.items() if isinstance(v, dict) else v
        return sorted(([value(k, t.key_type), value(x, t.item_type)] for k, x in pairs), key=json.dumps)
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return [value(x, t.value_type) for x in v]
    if pa.types.is_struct(t):
        fields = list(t)
        by_name = v if isinstance(v, dict) else dict(zip((f.name for f in fields), v))
        return {f.name: value(by_name.get(f.name), f.type) for f in fields}
    return v


def row(r, schema):
    """A row as a dict, in the order of the schema; columns that the row lacks are null."""
    return {f.name: value(r.get(f.name), f.type) for f in schema}


def array(arr, t=None):
    """The values of an Arrow array; t is the type that the table has, where the reader's own says less (TIME as int)."""
    t = t or arr.type
    if isinstance(arr, pa.ChunkedArray):
        return [v for c in arr.chunks for v in array(c, t)]
    own = arr.type
    if pa.types.is_timestamp(own):
        unit = NS[own.unit]
        return [None if v is None else v * unit for v in arr.cast(pa.int64()).to_pylist()]
    if pa.types.is_time(own):
        unit = NS[own.unit]
        raw = arr.cast(pa.int32() if pa.types.is_time32(own) else pa.int64())
        return [None if v is None else v * unit // 10**6 for v in raw.to_pylist()]
    if pa.types.is_map(own):
        return _nested(arr, lambda lo, hi, k, x: sorted([list(p) for p in zip(k[lo:hi], x[lo:hi])], key=json.dumps),
                       array(arr.keys, t.key_type), array(arr.items, t.item_type))
    if pa.types.is_list(own):
        return _nested(arr, lambda lo, hi, x: x[lo:hi], array(arr.values, t.value_type))
    if pa.types.is_struct(own):
        columns = {f.name: array(arr.field(f.name), f.type) for f in t}
        return [{n: c[i] for n, c in columns.items()} if ok else None for i, ok in enumerate(arr.is_valid().to_pylist())]
    if pa.types.is_integer(own) or pa.types.is_string(own) or pa.types.is_boolean(own):
        return arr.to_pylist()
    return [value(v, t) for v in arr.to_pylist()]


def _nested(arr, make, *children):
    offsets, valid = arr.offsets.to_pylist(), arr.is_valid().to_pylist()
    return [make(offsets[i], offsets[i + 1], *children) if valid[i] else None for i in range(len(arr))]


def table(tab, schema):
    """The rows of an Arrow table as dicts of canonical values, columns named by schema."""
    columns = {f.name: array(tab[f.name], f.type) for f in schema}
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def bag(rows):
    """Rows as a sorted list of texts: two bags are equal when they hold the same rows as often. Columns in one order."""
    return sorted(map(repr, rows))


def differ(got, want, limit=5):
    """None where both bags are equal, else a text with the first rows of each that the other lacks."""
    got, want = bag(got), bag(want)
    if got == want:
        return None
    more, less = Counter(got) - Counter(want), Counter(want) - Counter(got)
    lines = [f"{len(got)} rows, expected {len(want)}"]
    lines += [f"  unexpected x{n}: {r}" for r, n in list(more.items())[:limit]]
    lines += [f"  missing x{n}: {r}" for r, n in list(less.items())[:limit]]
    return "\n".join(lines)
