"""Partitions by hand: pyfluss does not show all of the requests, and makes no partition on the first row."""
import decimal

import pyarrow as pa

from .wire import Wire, table_path


def spec(values):
    return {"partition_key_values": [{"key": k, "value": v} for k, v in values.items()]}


class Partitions:
    """The requests about partitions of one table."""

    def __init__(self, server, name):
        self.wire, self.path = Wire(server.bootstrap), table_path(name)

    def create(self, values, ignore=False):
        self.wire.call("CREATE_PARTITION", {"table_path": self.path, "partition_spec": spec(values), "ignore_if_not_exists": ignore})

    def drop(self, values, ignore=False):
        self.wire.call("DROP_PARTITION", {"table_path": self.path, "partition_spec": spec(values), "ignore_if_not_exists": ignore})

    def list(self, **wanted):
        """Name -> id."""
        request = {"table_path": self.path} | ({"partial_partition_spec": spec(wanted)} if wanted else {})
        infos = self.wire.call("LIST_PARTITION_INFOS", request).get("partitions_info", [])
        return {"$".join(v["value"] for v in i["partition_spec"]["partition_key_values"]): i["partition_id"] for i in infos}

    def metadata(self, names=(), ids=()):
        paths = [{**self.path, "partition_name": n} for n in names]
        return self.wire.call("GET_METADATA", {"table_path": [self.path], "partitions_path": paths, "partitions_id": list(ids)})

    def offsets(self, **which):
        """Of a lake snapshot: its id, and {(partition id, bucket): offset}."""
        s = self.wire.call("GET_LAKE_SNAPSHOT", {"table_path": self.path, **which})
        found = s.get("bucket_snapshots", [])
        return s["snapshot_id"], {(b["partition_id"], b["bucket_id"]): b["log_offset"] for b in found}

    def make_for(self, rows, schema, keys):
        """Those of the rows, under the names that pyfluss gives them."""
        for values in {tuple(text(r[k], schema.field(k).type) for k in keys) for r in rows}:
            self.create(dict(zip(keys, values)), ignore=True)


def text(value, t):
    """A value in a partition's name, as pyfluss 1.0.0 writes it; Java's text of a FLOAT, DOUBLE and TIMESTAMP is another
    (exceptions.py), which stands for the same value."""
    if pa.types.is_boolean(t):
        return str(value).lower()
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return value.hex()
    if pa.types.is_floating(t):
        digits = format(decimal.Decimal(repr(value) if pa.types.is_float64(t) else repr(_short(value))), "f")
        return (digits.rstrip("0").rstrip(".") if "." in digits else digits).replace(".", "_")
    if pa.types.is_time(t):
        return value.strftime("%H-%M-%S_") + f"{value.microsecond // 1000:03d}"
    if pa.types.is_timestamp(t):
        micros = value.microsecond
        fraction = "" if not micros else f"{micros // 1000:03d}" if micros % 1000 == 0 else f"{micros * 1000:09d}"
        return f"{value.year:04d}-{value.month:02d}-{value.day:02d}-{value.hour:02d}-{value.minute:02d}-{value.second:02d}_{fraction}"
    return str(value)


def _short(value):
    """The shortest decimal that is this FLOAT."""
    import numpy
    return float(str(numpy.float32(value)))
