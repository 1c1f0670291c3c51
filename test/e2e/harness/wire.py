"""The protocol by hand: frames and messages over a plain socket, for what no client would send.

Messages and keys come from test/golden/messages.jsonl and api_keys.jsonl; a message is a dict of its fields.
"""
import functools
import json
import socket
import struct

from .server import ROOT


@functools.cache
def _golden(name, version):
    """id -> row of a file of golden vectors; where an id has one for each version, that of the one named."""
    with open(ROOT / "test/golden" / name) as f:
        rows = sorted(map(json.loads, f), key=lambda row: version in row["versions"])
    return {row["id"]: row for row in rows}


# The messages of 1.0.0 hold those of 0.9.1; the version numbers are those that weir serves.
MESSAGES, KEYS = _golden("messages.jsonl", "1.0.0"), _golden("api_keys.jsonl", "0.9.1-incubating")
SUCCESS, ERROR, FAILURE = 0, 1, 2
FIXED = {1: "<d", 5: "<f"}  # wire types of doubles and floats
WEIR_FIELD = 1000


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    return bytes(out) + bytes([v])


def encode(message, fields):
    """A message of proto2 as bytes; packed where its field is numeric with wire type 2."""
    out, known = bytearray(), MESSAGES[message]["fields"]
    assert set(fields) <= {f["name"] for f in known}, f"{message} has no {set(fields)}"
    for f in known:
        if f["name"] not in fields:
            continue
        values = fields[f["name"]]
        values = values if f["label"] == "repeated" else [values]
        if f["wire_type"] == 2 and f["type"] in ("int32", "int64", "bool"):
            body = b"".join(map(varint, values))
            out += varint(f["number"] << 3 | 2) + varint(len(body)) + body
            continue
        for v in values:
            out += varint(f["number"] << 3 | f["wire_type"])
            if f["wire_type"] == 0:
                out += varint(int(v))
            elif f["wire_type"] in FIXED:
                out += struct.pack(FIXED[f["wire_type"]], v)
            else:
                body = encode(f["type"], v) if f["type"] in MESSAGES else v.encode() if isinstance(v, str) else bytes(v)
                out += varint(len(body)) + body
    return bytes(out)


def _read_varint(data, at):
    v = shift = 0
    while True:
        v |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return v, at


def decode(message, data):
    """The fields of a message as a dict; repeated ones as lists. A field that no version knows is an error, but for
    weir's own, numbered from WEIR_FIELD on, which stock clients skip as this does."""
    by_number = {f["number"]: f for f in MESSAGES[message]["fields"]}
    out, at = {}, 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        if tag & 7 == 0:
            v, at = _read_varint(data, at)
            v = v - (1 << 64) if v >> 63 else v
        else:
            size, at = _read_varint(data, at)
            v, at = data[at:at + size], at + size
        if tag >> 3 >= WEIR_FIELD:
            continue
        f = by_number[tag >> 3]
        if tag & 7:
            v = decode(f["type"], v) if f["type"] in MESSAGES else v.decode() if f["type"] == "string" else v
        if f["label"] == "repeated":
            out.setdefault(f["name"], []).append(v)
        else:
            out[f["name"]] = v
    return out


class Wire:
    """One connection. Each call of the protocol is call(API, fields); raw() sends what it is given."""

    def __init__(self, bootstrap, timeout=10, hello=True):
        host, port = bootstrap.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.next_id = 0
        if hello:
            self.call("API_VERSIONS", {"client_software_name": "e2e", "client_software_version": "1"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def raw(self, data):
        self.socket.sendall(data)

    def send(self, api, fields, version=None):
        key = KEYS[api]
        body = encode(key["request"], fields) if isinstance(fields, dict) else fields
        self.next_id += 1
        self.raw(struct.pack(">ihhi", 8 + len(body), key["api_key"], key["max_version"] if version is None else version, self.next_id) + body)
        return self.next_id

    def _exactly(self, n):
        data = bytearray()
        while len(data) < n:
            got = self.socket.recv(n - len(data))
            if not got:
                raise ConnectionError(f"closed after {len(data)} of {n} bytes")
            data += got
        return bytes(data)

    def receive(self):
        """(type, request id, body); ConnectionError when the server closed instead."""
        (size,) = struct.unpack(">i", self._exactly(4))
        data = self._exactly(size)
        return (data[0], None, data[1:]) if data[0] == FAILURE else (data[0], *struct.unpack(">i", data[1:5]), data[5:])

    def call(self, api, fields, version=None):
        """The answer as a dict; WireError for an error of the protocol."""
        sent = self.send(api, fields, version)
        kind, answered, body = self.receive()
        if kind != SUCCESS:
            e = decode("ErrorResponse", body)
            raise WireError(e["error_code"], e.get("error_message", ""))
        assert answered == sent, f"answer to request {answered}, not {sent}"
        return decode(KEYS[api]["response"], body)


class WireError(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


def table_path(name):
    database, table = name.split(".")
    return {"database_name": database, "table_name": table}


_CRC = []
for _n in range(256):
    for _ in range(8):
        _n = _n >> 1 ^ (0x82F63B78 if _n & 1 else 0)
    _CRC.append(_n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc = _CRC[(crc ^ b) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


# Rows (a INT, b STRING), five of them, by the real writer: the vector log/arrow/v0/append/simple.
BATCH_SCHEMA = [("a", "int32"), ("b", "string")]


def log_batch(writer=-1, sequence=-1):
    """That batch under another writer id and sequence number (offsets 32 and 40; the CRC at 21 covers from 25 on)."""
    batch = bytearray.fromhex(_golden("log_batches.jsonl", "1.0.0")["log/arrow/v0/append/simple"]["hex"])
    struct.pack_into("<qi", batch, 32, writer, sequence)
    struct.pack_into("<I", batch, 21, crc32c(batch[25:]))
    return bytes(batch)


BATCH_ROWS = 5


def golden_batches():
    """id -> bytes of all log batches of two columns, INT and STRING; those of 0.9 alone and of 1.0 alone too."""
    return {i: bytes.fromhex(r["hex"]) for i, r in _golden("log_batches.jsonl", "1.0.0").items()
            if i.startswith("log/") and r["types"] == ["INT", "STRING"]}


def produce(table_id, records, bucket=0, acks=-1):
    """The fields of a PRODUCE_LOG to one bucket."""
    return {"acks": acks, "table_id": table_id, "timeout_ms": 10000, "buckets_req": [{"bucket_id": bucket, "records": records}]}


def kv_batch(records, schema_id=1, writer=-1, sequence=-1):
    """A kv batch of (key, row bytes or None to delete)."""
    body = struct.pack("<hBqii", schema_id, 0, writer, sequence, len(records))
    for key, row in records:
        record = varint(len(key)) + key + (row or b"")
        body += struct.pack("<i", len(record)) + record
    return struct.pack("<iBI", len(body) + 5, 0, crc32c(body)) + body


def put(table_id, records, columns=(), bucket=0, acks=-1, **more):
    """The fields of a PUT_KV to one bucket."""
    return {"acks": acks, "table_id": table_id, "timeout_ms": 10000, "target_columns": list(columns),
            "buckets_req": [{"bucket_id": bucket, "records": records}], **more}


def look_up(table_id, keys, bucket=0, **more):
    """The fields of a LOOKUP in one bucket."""
    return {"table_id": table_id, "buckets_req": [{"bucket_id": bucket, "keys": keys}], **more}


def int_key(v):
    """The key of an INT column as Paimon has it: what tables of a server with that lake have."""
    return bytes(8) + struct.pack("<q", v & 0xFFFFFFFF)


def compacted(data, count):
    """The fields of a COMPACTED row of count INT or BIGINT columns."""
    at, out = (count + 7) // 8, []
    for i in range(count):
        if data[i // 8] >> i % 8 & 1:
            out.append(None)
            continue
        v, at = _read_varint(data, at)
        out.append(v)
    return out
