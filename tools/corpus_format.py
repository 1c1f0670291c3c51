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


def rows():
    """byte 0 the format, byte 1 the type, as src/format/row/row_fuzz.c numbers them."""
    wanted = {"int/1": 5, "int/null": 5, "array-int/values": 6, "array-int/null": 6}
    for line in lines("rows"):
        _, form, name = line["id"].split("/", 2)
        if name in wanted:
            head = bytes([0 if form == "compacted" else 1, wanted[name]])
            write("row_fuzz", f"{form}-{name}", head + bytes.fromhex(line["hex"]))
    for line in lines("paimon_rows"):
        if line["id"] in ("binary_row/int/0", "binary_row/array-int", "binary_row/empty-row"):
            kind = {"int/0": 5, "array-int": 6, "empty-row": 7}[line["id"].split("/", 1)[1]]
            for form in (2, 3):
                write("row_fuzz", f"{form}-{line['id']}", bytes([form, kind]) + bytes.fromhex(line["hex"]))
    # All-zero rows of every type in every format: no null anywhere, lengths and offsets 0.
    for kind in range(5):
        for form in range(4):
            write("row_fuzz", f"zeros-{form}-{kind}", bytes([form, kind]) + bytes(160))


def row_json():
    write("row_json_fuzz", "all",
          b'{"a":true,"b":-1,"c":"5","d":0.1,"e":"NaN","f":"a\\u00e9\\ud83d\\ude00","g":"00ff","h":1.5e3,"i":"2024-02-29",'
          b'"j":"12:34:56.789","k":"1969-12-31T23:59:59.999999999","l":"2024-01-02 03:04:05Z","m":[1,null],'
          b'"n":{"x":1},"o":[[1,"y"]],"p":{"r":"z"}}')
    write("row_json_fuzz", "nulls", b' { "a" : null , "m" : [ ] , "n" : { } , "p" : { } } ')


def keys():
    """byte 0 the encoder, byte 1 the type, as src/format/row/key_fuzz.c numbers them."""
    encoders = ("compacted", "paimon", "iceberg", "hudi")
    wanted = {"int,string": 0, "int,string/long": 0, "string/4": 3, "int/1": 4, "timestamp6/1": 5, "decimal38_10/3": 6,
              "time0/1": 7}
    for line in lines("keys"):
        parts = line["id"].split("/", 2)
        if parts[0] == "key" and parts[2] in wanted and "key_hex" in line:
            head = bytes([encoders.index(parts[1]), wanted[parts[2]]])
            write("key_fuzz", f"{parts[1]}-{parts[2]}", head + bytes.fromhex(line["key_hex"]))
    for encoder in range(3):
        for kind in range(8):
            write("key_fuzz", f"zeros-{encoder}-{kind}", bytes([encoder, kind]) + bytes(96))


def partition_names():
    """byte 0 the type, as src/format/row/partition_name_fuzz.c numbers them."""
    values = ("true", "-128", "9223372036854775807", "1_5E10", "-Inf", "us", "00ff", "2024-02-29", "12-34-56_789",
              "2024-01-02-03-04-05_123456789", "1")
    for kind, value in enumerate(values):
        write("partition_name_fuzz", str(kind), bytes([kind]) + value.encode())
    write("partition_name_fuzz", "three", b"\x05us$2024$x")


schemas()
rows()
keys()
partition_names()
row_json()
