"""Keys as clients encode them, for requests by hand: the forms of tables with Paimon for their lake format."""
import struct

import pyarrow as pa

from . import canon
from .wire import varint

EPOCH_DAY = 719163
WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "int32": 4, "date32[day]": 4, "time32[ms]": 4}


def _whole(v, t):
    """What is one number of up to 8 bytes, or None."""
    if pa.types.is_boolean(t) or pa.types.is_integer(t):
        return int(v)
    if pa.types.is_date(t):
        return v.toordinal() - EPOCH_DAY
    if pa.types.is_time(t):
        return canon.value(v, t)
    if pa.types.is_timestamp(t) and t.unit in ("s", "ms"):
        return canon.timestamp_ns(v) // 10**6
    return int(v.scaleb(t.scale)) if pa.types.is_decimal(t) and t.precision <= 18 else None


def _bytes(v, t):
    """What is bytes of any number."""
    if pa.types.is_decimal(t):
        unscaled = int(v.scaleb(t.scale))
        return unscaled.to_bytes((unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1, "big", signed=True)
    return v.encode() if isinstance(v, str) else bytes(v)


def paimon(key, schema, columns):
    """A BinaryRow: header and bits of nulls, slots of 8 bytes, and behind them what does not fit."""
    fixed = (len(columns) + 71) // 64 * 8
    slots, behind = [], b""
    for c in columns:
        v, t = key[c], schema.field(c).type
        at, whole = fixed + 8 * len(columns) + len(behind), _whole(v, t)
        if whole is not None:
            slots.append(whole & (1 << 8 * WIDTHS.get(str(t), 8)) - 1)
        elif pa.types.is_timestamp(t):
            millis, nanos = divmod(canon.timestamp_ns(v), 10**6)
            slots.append(at << 32 | nanos)
            behind += struct.pack("<q", millis)
        else:
            data = _bytes(v, t)
            if len(data) <= 7 and not pa.types.is_decimal(t):
                slots.append((0x80 | len(data)) << 56 | int.from_bytes(data, "little"))
                continue
            slots.append(at << 32 | len(data))
            behind += data.ljust(16 if pa.types.is_decimal(t) else (len(data) + 7) // 8 * 8, b"\0")
    return bytes(fixed) + struct.pack(f"<{len(slots)}Q", *slots) + behind


def compacted(key, schema, columns):
    """The values one after the other."""
    out = b""
    for c in columns:
        v, t = key[c], schema.field(c).type
        whole, width = _whole(v, t), WIDTHS.get(str(t), 8)
        if whole is not None:
            out += (whole & (1 << 8 * width) - 1).to_bytes(width, "little") if width < 4 else varint(whole & (1 << 8 * width) - 1)
        elif pa.types.is_timestamp(t):
            millis, nanos = divmod(canon.timestamp_ns(v), 10**6)
            out += varint(millis) + varint(nanos)
        else:
            data = _bytes(v, t)
            out += varint(len(data)) + data
    return out
