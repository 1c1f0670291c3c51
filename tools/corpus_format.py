#!/usr/bin/env python3
"""Makes the fuzz corpus of src/format/schema and src/format/row out of the golden vectors: a few lines of each kind.

    tools/corpus_format.py        writes test/corpus/*_fuzz/ anew
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "test/golden"
CORPUS = ROOT / "test/corpus"


def lines(name):
    with open(GOLDEN / f"{name}.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name.replace("/", "-")).write_bytes(data)


def schemas():
    kinds = {"schema": b"s", "table_descriptor": b"t", "database_descriptor": b"d"}
    wanted = ("schema/nested", "schema/aggregation", "schema/auto-increment", "table_descriptor/pk-partitioned",
              "table_descriptor/log-bucket-key", "database_descriptor/full")
    for line in lines("schemas"):
        if line["id"] in wanted:
            write("schema_json_fuzz", line["id"], kinds[line["kind"]] + line["text"].encode())
    for line in lines("rows"):
        if line["id"] in ("row/compacted/decimal5_2/0", "row/compacted/row-deep", "row/compacted/map-of-row"):
            text = json.dumps(line["types_json"][0], separators=(",", ":")).encode()
            write("schema_json_fuzz", "type-" + line["id"], b"y" + text)
            write("type_sql_fuzz", line["id"], line["types"][0].encode())
    write("type_sql_fuzz", "spellings",
          b"row(a double precision, `b``c` timestamp(3) with local time zone not null 'x''y', c varchar(2147483647))")


schemas()
