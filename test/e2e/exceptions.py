"""Values that a reader or writer of the tests cannot hold. Each with its reason; nothing is excused anywhere else.

What pyfluss 1.0.0 refuses or garbles on its way in, so that harness/types.py does not make it:
- TIMESTAMP of precision > 3 before 1970 with digits below the millisecond, by rows: refused. (As Arrow batches they
  pass, and test_faults.py writes them so.)
- Times after 9999-12-30T22:00:00: refused in writing, and its Arrow reader fails on them.
- TIME below the millisecond by rows: refused.
- MAP with values of DECIMAL of precision > 18, where one is null or the map lies in another ARRAY, MAP or ROW: its own
  check of the encoded map fails ("expected 100 bytes, got 108").
- Python's datetime ends at the microsecond: digits 7 to 9 go in by Arrow batches only.
- An empty STRING or BYTES as the key of a table with keys of Iceberg: refused (Java's client, too), so programs have none.
- Tables whose logs are compressed by another level of ZSTD than 3: its writers refuse them.

What pyfluss 1.0.0 does not read of a table with a column added by ALTER TABLE, from weir as from Apache Fluss: batches of
before by the new columns, unless a projection names them ("column index 2 out of bounds"); as Arrow, batches of two schemas
at once. So tables opened as altered are read by a projection of all columns. (Apache Fluss refuses that as well where a
column is not in the batch; weir sends nulls.)

What pyfluss 1.0.0 does not end: to_arrow() of a scan with a condition, where the server leaves the last batches away.

What a reader loses on the way out, so that both sides are cut before they are compared: the functions below.
"""
import pyarrow as pa


def _cut_timestamps(v, t, ns):
    if v is None:
        return None
    if pa.types.is_timestamp(t):
        return v // ns * ns
    if pa.types.is_list(t):
        return [_cut_timestamps(x, t.value_type, ns) for x in v]
    if pa.types.is_map(t):
        return [[_cut_timestamps(k, t.key_type, ns), _cut_timestamps(x, t.item_type, ns)] for k, x in v]
    if pa.types.is_struct(t):
        return {f.name: _cut_timestamps(v[f.name], f.type, ns) for f in t}
    return v


def _cutter(schema, ns):
    return lambda row: {f.name: _cut_timestamps(row[f.name], f.type, ns) for f in schema}


def by_record_scanner(schema):
    """pyfluss's record scanner and look-ups give datetime: microseconds. Its Arrow scanner keeps all nine digits."""
    return _cutter(schema, 1000)


def by_merging_pypaimon(schema):
    """pypaimon drops digits 7 to 9 of a timestamp when it merges the files of a primary-key table."""
    return _cutter(schema, 1000)
