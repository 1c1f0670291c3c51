"""ALTER TABLE and ALTER DATABASE over the wire: pyfluss has neither."""
import json

import pyarrow as pa

from .wire import Wire, table_path

SET, RESET, LAST = 0, 1, 0
_PRECISION = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_SIMPLE = {"bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "float": "FLOAT", "double": "DOUBLE",
           "string": "STRING", "binary": "BYTES", "date32[day]": "DATE"}


def type_of(t):
    """A nullable type of Fluss as pyfluss makes one of this Arrow type."""
    if str(t) in _SIMPLE:
        return {"type": _SIMPLE[str(t)]}
    if pa.types.is_fixed_size_binary(t):
        return {"type": "BINARY", "length": t.byte_width}
    if pa.types.is_decimal(t):
        return {"type": "DECIMAL", "precision": t.precision, "scale": t.scale}
    if pa.types.is_time(t):
        return {"type": "TIME_WITHOUT_TIME_ZONE", "precision": _PRECISION[t.unit]}
    if pa.types.is_timestamp(t):
        return {"type": "TIMESTAMP_WITH_LOCAL_TIME_ZONE" if t.tz else "TIMESTAMP_WITHOUT_TIME_ZONE", "precision": _PRECISION[t.unit]}
    if pa.types.is_list(t):
        return {"type": "ARRAY", "element_type": type_of(t.value_type)}
    if pa.types.is_map(t):
        return {"type": "MAP", "key_type": {**type_of(t.key_type), "nullable": False}, "value_type": type_of(t.item_type)}
    assert pa.types.is_struct(t), t
    return {"type": "ROW", "fields": [{"name": f.name, "field_type": type_of(f.type), "field_id": -1} for f in t]}


def column(field, **more):
    """A PbAddColumn from an Arrow field."""
    data_type = type_of(field.type) if field.nullable else {**type_of(field.type), "nullable": False}
    return {"column_name": field.name, "data_type_json": json.dumps(data_type).encode(), "column_position_type": LAST, **more}


def configs(changes):
    """changes: (key, value), value None to reset."""
    return [{"config_key": k, "op_type": RESET} if v is None else {"config_key": k, "config_value": v, "op_type": SET} for k, v in changes]


def alter(server, name, *changes, ignore=0, **more):
    with Wire(server.bootstrap) as w:
        return w.call("ALTER_TABLE", {"table_path": table_path(name), "ignore_if_not_exists": ignore, "config_changes": configs(changes), **more})


def add_columns(server, name, *fields):
    """ALTER TABLE ... ADD (fields), Arrow fields or (name, Arrow type)."""
    fields = [pa.field(*f) if isinstance(f, tuple) else f for f in fields]
    return alter(server, name, add_columns=[column(f) for f in fields])


def alter_database(server, name, *changes, ignore=0, **more):
    with Wire(server.bootstrap) as w:
        return w.call("ALTER_DATABASE", {"database_name": name, "ignore_if_not_exists": ignore, "config_changes": configs(changes), **more})
