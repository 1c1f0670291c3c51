#!/usr/bin/env python3
"""Makes the fuzz corpus of src/format/arrow and src/format/batch out of the golden vectors: a few lines of each kind.

    tools/corpus_batch.py        writes test/corpus/{arrow,log_batch,projection,kv_batch,value_batch}_fuzz/ anew
"""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "test/golden"
CORPUS = ROOT / "test/corpus"
FORMATS = {"ARROW": 0, "INDEXED": 1, "COMPACTED": 2}


def lines(name):
    with open(GOLDEN / f"{name}.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name.replace("/", "-")).write_bytes(data)


def message(line):
    """The Arrow message of a log batch."""
    header = line["header"]
    start = header["headerSize"] + header.get("statisticsLength", 0)
    return bytes.fromhex(line["hex"])[start + (0 if line["append_only"] else header["recordCount"]):]


def logs():
    """First bytes as the fuzz targets number them: the type, and before it the format."""
    kinds = {"simple": 0, "nested": 1}
    for line in lines("log_batches"):
        parts = line["id"].split("/")
        if parts[0] != "log" or parts[-1] not in kinds:
            continue
        kind, batch, name = kinds[parts[-1]], bytes.fromhex(line["hex"]), "-".join(parts[1:])
        if line["format"] == "ARROW" and parts[2] == "v0":
            write("arrow_fuzz", name, bytes([kind]) + message(line))
            if kind == 1:
                write("projection_fuzz", name, bytes([0b10101001]) + batch)
        if line["id"] == "log/arrow/v2/changelog/statistics/nested":
            write("projection_fuzz", name, bytes([0b01000010]) + batch)
        if "changelog" in parts and (parts[2] == "v0" or "statistics" in parts or parts[-1] == "simple"):
            write("log_batch_fuzz", name, bytes([FORMATS[line["format"]], kind]) + batch)
    for line in lines("log_batches"):
        if line["id"] in ("projection/v0/NONE/changelog/simple/[0]", "projection/v2/ZSTD/append/simple/[0]"):
            write("log_batch_fuzz", line["id"][:-4], bytes([0, 0]) + bytes.fromhex(line["input_hex"]))


def kv():
    for line in lines("kv_batches"):
        kind, form, name = (line["id"].split("/") + [""])[:3]
        if kind == "kv" and name in ("empty", "one-put", "puts-and-deletes"):
            write("kv_batch_fuzz", f"{form}-{name}", bytes.fromhex(line["hex"]))
        if kind == "value-batch":
            write("value_batch_fuzz", f"{form}-{name}", bytes.fromhex(line["hex"]))


logs()
kv()
