#!/usr/bin/env python3
"""Writes test/corpus/client_answer_fuzz: answers a client may get, as src/client/client_answer_fuzz.c reads them, with
batches of the golden vectors inside. Run by hand, from the root of the tree; the files are committed."""
import json
from pathlib import Path

SCAN, LOOKUP, SCAN_KV, LIMIT_SCAN, LOG_LIMIT_SCAN, FOLD, OFFSETS, LAKE, PREPARE, PUT, RAW = range(11)


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def case(operation, *bodies):
    return bytes([operation]) + b"".join(len(b).to_bytes(2, "little") + b for b in bodies)


def batch(name):
    for line in Path("test/golden/log_batches.jsonl").read_text().splitlines():
        golden = json.loads(line)
        if golden["id"] == name:
            return bytes.fromhex(golden["hex"])
    raise SystemExit("no golden batch " + name)


def fetched(*buckets):
    return field(1, field(1, 7) + b"".join(field(2, field(2, number) + rest) for number, rest in buckets))


append, changes, empty = (batch("log/arrow/v0/" + name) for name in ("append/simple", "changelog/simple", "append/empty"))
row = bytes.fromhex("00") + b"\x01" + b"\x02hi"  # compacted: null bits, a = 1, b = "hi"
value = (1).to_bytes(2, "little") + row
values = (len(value) + 4).to_bytes(4, "little") + value
values = (5 + len(values)).to_bytes(4, "little") + b"\0" + (1).to_bytes(4, "little") + values
cases = {
    "scan": case(SCAN, fetched((0, field(5, 5) + field(8, append)), (1, field(5, 0) + field(8, b"")))),
    "scan-empty-batch": case(SCAN, fetched((0, field(5, 1) + field(8, empty)))),
    "scan-error": case(SCAN, fetched((0, field(3, 19) + field(4, b"out of range")))),
    "scan-remote": case(SCAN, fetched((0, field(5, 9) + field(7, field(1, b"dir") + field(4, 0))))),
    "lookup": case(LOOKUP, field(1, field(2, 0) + field(5, field(1, value))),
                   field(1, field(2, 1) + field(5, field(1, value)))),
    "scan-kv": case(SCAN_KV, field(3, b"s") + field(4, 1) + field(5, values) + field(6, 9), field(4, 0),
                    field(4, 0) + field(6, 3)),
    "limit-scan": case(LIMIT_SCAN, field(4, values), field(4, values)),
    "limit-scan-log": case(LOG_LIMIT_SCAN, field(3, 1) + field(4, append), field(4, empty)),
    "fold": case(FOLD, fetched((0, field(8, changes))), fetched((1, field(8, changes)))),
    "offsets": case(OFFSETS, field(1, field(1, 0) + field(4, 8)) + field(1, field(1, 1) + field(4, 9))),
    "lake": case(LAKE, field(1, 7) + field(2, 5) + field(3, field(2, 1) + field(3, 6))),
    "prepare": case(PREPARE, field(1, field(3, 7) + field(4, b"path"))),
    "put": case(PUT, field(1, field(2, 0) + field(5, 1)), field(1, field(2, 1) + field(5, 1))),
    "raw": bytes([RAW]) + bytes.fromhex("0000000c0200000001080c12056f75746f66"),
}
out = Path("test/corpus/client_answer_fuzz")
out.mkdir(parents=True, exist_ok=True)
for name, content in cases.items():
    (out / name).write_bytes(content)
