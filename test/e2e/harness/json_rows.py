"""Rows in the JSON of weir's commands (src/format/value/value.h): to be written, and as read in canonical form."""
import datetime as dt
import decimal
import json
import math

import pyarrow as pa

from . import canon


def _floating(v):
    return "NaN" if math.isnan(v) else ("-" * (v < 0) + "Infinity") if math.isinf(v) else v


def _given(v, t):
    if v is None:
        return None
    if pa.types.is_floating(t):
        return _floating(v)
    if pa.types.is_decimal(t):
        return format(v, "f")
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return v.hex()
    if pa.types.is_timestamp(t):
        return v.replace(tzinfo=None).isoformat(" ") + "Z" * (t.tz is not None)
    if pa.types.is_date(t) or pa.types.is_time(t):
        return v.isoformat()
    if pa.types.is_map(t):
        return [[_given(k, t.key_type), _given(x, t.item_type)] for k, x in v.items()]
    if pa.types.is_list(t):
        return [_given(x, t.value_type) for x in v]
    if pa.types.is_struct(t):
        return {f.name: _given(v[f.name], f.type) for f in t}
    return v


def line(row, schema):
    """A row as the tests write them, or some columns of one, as a line of JSON."""
    return json.dumps({c: _given(v, schema.field(c).type) for c, v in row.items()})


def _time_ns(text):
    clock, _, fraction = text.partition(".")
    h, m, s = map(int, clock.split(":"))
    return (h * 3600 + m * 60 + s) * 10**9 + int(fraction.ljust(9, "0"))


def _read(v, t):
    if v is None:
        return None
    if pa.types.is_floating(t):
        return canon.value(float(v), t)
    if pa.types.is_decimal(t):
        return canon.value(decimal.Decimal(v), t)
    if pa.types.is_integer(t):
        return int(v)
    if pa.types.is_time(t):
        return _time_ns(v) // 10**6
    if pa.types.is_timestamp(t):
        day, clock = v.rstrip("Z").split(" ")
        return canon.timestamp_ns(dt.datetime.fromisoformat(day)) + _time_ns(clock)
    if pa.types.is_map(t):
        pairs = v.items() if isinstance(v, dict) else v
        return sorted(([_read(k, t.key_type), _read(x, t.item_type)] for k, x in pairs), key=json.dumps)
    if pa.types.is_list(t):
        return [_read(x, t.value_type) for x in v]
    if pa.types.is_struct(t):
        return {f.name: _read(v[f.name], f.type) for f in t}
    return v  # BOOLEAN, STRING, DATE, bytes: their canonical form


def read(text, schema):
    """The rows of lines of JSON: (canonical row, the columns that are not of the schema)."""
    out = []
    for found in text.splitlines():
        row = json.loads(found, parse_int=str, parse_float=str)
        own = {k: v for k, v in row.items() if k.startswith("_")}
        out.append(({f.name: _read(row[f.name], f.type) for f in schema}, own))
    return out
