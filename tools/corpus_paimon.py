#!/usr/bin/env python3
"""Makes the fuzz corpus of src/lake/paimon: texts and files of the golden tables, and records made by hand.

    tools/corpus_paimon.py        writes test/corpus/paimon_json_fuzz and test/corpus/paimon_manifest_fuzz anew
"""
import json
import pathlib
import shutil
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "test/golden/paimon-by-fluss"
CORPUS = ROOT / "test/corpus"

NESTED = {"version": 3, "id": 2, "highestFieldId": 9, "partitionKeys": ["d"], "primaryKeys": ["k", "d"], "comment": "c",
          "options": {"bucket": "2", "bucket-key": "k"}, "timeMillis": 1,
          "fields": [{"id": 0, "name": "k", "type": "DECIMAL(20, 2) NOT NULL"}, {"id": 1, "name": "d", "type": "VARCHAR(7) NOT NULL"},
                     {"id": 2, "name": "r", "description": "x", "type": {"type": "ROW NOT NULL", "fields": [
                         {"id": 3, "name": "a", "type": {"type": "ARRAY", "element": "TIME(0)"}, "description": "y"},
                         {"id": 4, "name": "m", "type": {"type": "MAP", "key": "BINARY(3) NOT NULL", "value": "VARBINARY(5)"}}]}}]}


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def long(n):
    n = n << 1 ^ n >> 63
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def text(s):
    return long(len(s)) + s


def row(*values):
    """A BinaryRow of INT columns, its arity in front."""
    return struct.pack(">i", len(values)) + bytes(8) + b"".join(struct.pack("<iI", v, 0) for v in values)


def stats(low, high, nulls):
    return text(low) + text(high) + long(1) + (long(len(nulls)) if nulls else b"") + b"".join(long(1) + long(n) for n in nulls) + long(0)


def entry(kind, name, optional):
    some = (lambda b: long(1) + b) if optional else (lambda b: long(0))
    return b"".join([
        long(2), long(kind), text(row()), long(3), long(4), text(name), long(1000), long(10), text(row(1)), text(row(9)),
        stats(row(1), row(9), [0]), stats(row(1), row(9), [2]), long(0), long(9), long(0), long(5), long(1), text(b"extra"), long(0),
        some(long(1700000000000)), some(long(3)), some(text(b"index")), some(long(1)), some(long(1) + text(b"c") + long(0)),
        some(text(b"file:/x/data-1.parquet")), some(long(7)), some(long(0))])


def manifest(optional):
    some = (lambda b: long(1) + b) if optional else (lambda b: long(0))
    return b"".join([long(2), text(b"manifest-1"), long(2000), long(3), long(1), stats(row(), row(), []), long(0)] +
                    [some(long(n)) for n in (0, 3, 0, 5)])


def main():
    for target in ("paimon_json_fuzz", "paimon_manifest_fuzz"):
        shutil.rmtree(CORPUS / target, ignore_errors=True)
    for table in ("log-no-key", "pk-partitioned"):
        base = next((GOLDEN / table / "warehouse/golden.db").iterdir())
        write("paimon_json_fuzz", f"schema-{table}", b"s" + (base / "schema/schema-0").read_bytes())
        write("paimon_json_fuzz", f"snapshot-{table}", b"n" + (base / "snapshot/snapshot-2").read_bytes())
        name = json.loads((base / "snapshot/snapshot-2").read_text())["deltaManifestList"]
        write("paimon_manifest_fuzz", f"list-{table}", b"f" + (base / "manifest" / name).read_bytes())
    write("paimon_json_fuzz", "schema-nested", b"s" + json.dumps(NESTED).encode())
    write("paimon_manifest_fuzz", "entries", b"e" + entry(0, b"data-1.parquet", True) + entry(1, b"data-2.parquet", False))
    write("paimon_manifest_fuzz", "manifests", b"m" + manifest(True) + manifest(False))


main()
