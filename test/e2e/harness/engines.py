"""What the merge engines make of two rows: a model of its own, for what is written as Python values.

fold(): one value of the engine AGGREGATION. Engine: a whole table's rules, the changelog included.
"""
import ctypes
import decimal
import math

import pyarrow as pa

from . import canon

EXACT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)
ANY = ["last_value", "last_value_ignore_nulls", "first_value", "first_value_ignore_nulls", None]


def functions(t):
    """The functions that a column of the Arrow type takes; None: none is named."""
    numbers = pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t)
    ordered = numbers or pa.types.is_string(t) or pa.types.is_date(t) or pa.types.is_time(t) or pa.types.is_timestamp(t)
    return (ANY + (["sum", "product"] if numbers else []) + (["max", "min"] if ordered else []) +
            (["listagg", "string_agg"] if pa.types.is_string(t) else []) + (["bool_and", "bool_or"] if pa.types.is_boolean(t) else []))


def _number(v, t):
    """An exact result as the type keeps it."""
    if pa.types.is_float32(t):
        return ctypes.c_float(v).value
    if pa.types.is_float64(t):
        return v
    if pa.types.is_decimal(t):
        v = EXACT.add(v.quantize(decimal.Decimal(1).scaleb(-t.scale), context=EXACT), 0)  # no -0
        return v if abs(int(v.scaleb(t.scale, context=EXACT))) < 10**t.precision else None
    half = 1 << t.bit_width - 1
    return (v + half) % (2 * half) - half


def _order(v, t):
    if pa.types.is_floating(t):
        return (math.isnan(v), 0 if math.isnan(v) else v, math.copysign(1, v))
    return v.encode() if pa.types.is_string(t) else v


def _product(a, b, t):
    try:
        return EXACT.multiply(a, b) if pa.types.is_decimal(t) else a * b
    except OverflowError:
        return math.copysign(math.inf, a) * math.copysign(1, b)


def fold(function, t, old, new, delimiter=","):
    if function == "last_value":
        return new
    if old is None or new is None:
        return new if old is None else old
    if function == "sum":
        return _number(EXACT.add(old, new) if pa.types.is_decimal(t) else old + new, t)
    if function == "product":
        return _number(_product(old, new, t), t)
    if function in ("max", "min"):
        return (max if function == "max" else min)(old, new, key=lambda v: _order(v, t))
    if function in ("listagg", "string_agg"):
        return old + delimiter + new
    if function in ("bool_and", "bool_or"):
        return old and new if function == "bool_and" else old or new
    return old if function in ("first_value", "first_value_ignore_nulls") else new


class Engine:
    """kind: None, first_row, versioned, aggregation. deletes: allow, ignore, disable. wal: the changelog has no old rows.

    write() and delete() give the changes [(kind, row)] and what the key holds then; columns None: all of them."""

    def __init__(self, schema, pk, kind=None, deletes="allow", wal=False, version=None, of_column=None):
        self.schema, self.pk, self.kind, self.deletes, self.wal, self.version = schema, pk, kind, deletes, wal, version
        self.of_column = of_column or {}

    def _version(self, row):
        t, v = self.schema.field(self.version).type, row[self.version]
        if v is None:
            return -(1 << t.bit_width - 1) if pa.types.is_integer(t) else -math.inf
        return v if pa.types.is_integer(t) else canon.timestamp_ns(v)

    def _merged(self, old, new, columns):
        if self.kind == "aggregation":
            return {c: old[c] if c in self.pk or c not in columns else
                    fold(self.of_column.get(c), self.schema.field(c).type, old[c], new[c]) for c in old}
        return {c: new[c] if c in columns else old[c] for c in old}

    def write(self, old, new, columns=None):
        partial = columns is not None and set(columns) != set(self.schema.names)
        columns = columns or self.schema.names
        if self.wal and not partial and self.kind is None:
            return [("+U", new)], new
        if old is None:
            new = {c: new.get(c) if c in columns else None for c in self.schema.names}
            return [("+I", new)], new
        if self.kind == "first_row" or self.kind == "versioned" and self._version(new) < self._version(old):
            return [], old
        if partial and self.kind is None and set(columns) == set(self.pk):
            return [], old
        new = self._merged(old, new, columns)
        return ([] if self.wal else [("-U", old)]) + [("+U", new)], new

    def delete(self, old, columns=None):
        if self.deletes != "allow" or old is None:
            return [], old
        partial = columns is not None and set(columns) != set(self.schema.names)
        if not partial or all(old[c] is None for c in self.schema.names if c not in columns):
            return [("-D", old)], None
        new = {c: None if c in columns and c not in self.pk else old[c] for c in old}
        return ([] if self.wal else [("-U", old)]) + [("+U", new)], new


def sql_type(t):
    """The SQL spelling of an Arrow type, as pyfluss takes it for a column."""
    simple = {pa.bool_(): "BOOLEAN", pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INT", pa.int64(): "BIGINT",
              pa.float32(): "FLOAT", pa.float64(): "DOUBLE", pa.string(): "STRING", pa.binary(): "BYTES", pa.date32(): "DATE"}
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}
    if t in simple:
        return simple[t]
    if pa.types.is_fixed_size_binary(t):
        return f"BINARY({t.byte_width})"
    if pa.types.is_decimal(t):
        return f"DECIMAL({t.precision}, {t.scale})"
    if pa.types.is_time(t):
        return f"TIME({digits[t.unit]})"
    if pa.types.is_timestamp(t):
        return f"{'TIMESTAMP_LTZ' if t.tz else 'TIMESTAMP'}({digits[t.unit]})"
    if pa.types.is_map(t):
        return f"MAP<{sql_type(t.key_type)}, {sql_type(t.item_type)}>"
    if pa.types.is_list(t):
        return f"ARRAY<{sql_type(t.value_type)}>"
    return "ROW<" + ", ".join(f"`{f.name}` {sql_type(f.type)}" for f in t) + ">"


def create_table(name, schema, pk, properties, of_column=None, buckets=1, bucket_keys=None):
    """The SQL of a table, for what pyfluss can't say: functions of columns."""
    lines = [f"`{f.name}` {sql_type(f.type)}{'' if f.nullable else ' NOT NULL'}" for f in schema]
    options = {"bucket.num": buckets, **({"bucket.key": ",".join(bucket_keys)} if bucket_keys else {}), **properties}
    options |= {f"fields.{c}.agg": function for c, function in (of_column or {}).items() if function}
    keys = ", ".join(f"`{c}`" for c in pk)
    return f"CREATE TABLE `{name}` ({', '.join(lines)}, PRIMARY KEY ({keys}) NOT ENFORCED) WITH (" + ", ".join(f"'{k}' = '{v}'" for k, v in options.items()) + ")"
