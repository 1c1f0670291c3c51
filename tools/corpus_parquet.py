#!/usr/bin/env python3
"""Makes the fuzz corpora of src/format/parquet: small files of pyarrow in the ways that differ, and column chunks out of them.

    build/venv/bin/python tools/corpus_parquet.py        writes test/corpus/parquet_*_fuzz/ anew
"""
import decimal
import pathlib
import struct

import pyarrow as pa
import pyarrow.parquet as pq

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "test/corpus"
FILES = CORPUS / "parquet_reader_fuzz"
PAGES = CORPUS / "parquet_page_fuzz"
ROWS = 20
BARE = {"store_schema": False, "write_statistics": False}
WAYS = {
    "v1": {"compression": "none"},
    "v2": {"compression": "none", "data_page_version": "2.0"},
    "plain": {"compression": "none", "use_dictionary": False},
    "pages": {"compression": "none", "data_page_size": 20, "write_batch_size": 4, "row_group_size": 12},
    "snappy": {"compression": "snappy"},
    "gzip-v2": {"compression": "gzip", "data_page_version": "2.0"},
    "zstd": {"compression": "zstd"},
    "lz4": {"compression": "lz4"},
    "int96": {"compression": "none", "use_deprecated_int96_timestamps": True},
    "old-lists": {"compression": "none", "use_compliant_nested_type": False},
}
# Type numbers are those of the table in parquet_page_fuzz.c.
COLUMNS = {
    0: pa.array([i % 3 == 0 if i % 4 else None for i in range(ROWS)]),
    1: pa.array([i % 5 if i % 3 else None for i in range(ROWS)], pa.int32()),
    3: pa.array([f"text {i % 4}" if i % 5 else None for i in range(ROWS)]),
    4: pa.array([i / 4 for i in range(ROWS)]),
    6: pa.array([decimal.Decimal(i) / 4 if i % 2 else None for i in range(ROWS)], pa.decimal128(30, 2)),
    7: pa.array([i * 10**15 for i in range(ROWS)], pa.timestamp("ns")),
    9: pa.array([[i, None] * (i % 3) if i % 4 else None for i in range(ROWS)], pa.list_(pa.int32())),
    10: pa.array([[["a"], None, []][: i % 4] for i in range(ROWS)], pa.list_(pa.list_(pa.string()))),
}
CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "ZSTD": 6, "LZ4": 7}


def chunks(path, name, way):
    meta = pq.ParquetFile(path).metadata
    data = path.read_bytes()
    column = meta.row_group(0).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    head = struct.pack("<BBH", name, CODECS[column.compression], column.num_values)
    (PAGES / f"{name}-{way}").write_bytes(head + data[start:start + column.total_compressed_size])


def main():
    for folder in (FILES, PAGES):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if not old.name.startswith("found-"):  # by fuzzing
                old.unlink()
    scratch = FILES / "scratch"
    for way, how in WAYS.items():
        for name, array in COLUMNS.items():
            pq.write_table(pa.table({"c": array}), scratch, **BARE, **how)
            if way in ("v1", "v2", "plain", "snappy") or (way == "int96") == (name == 7) and name in (3, 7, 9):
                chunks(scratch, name, way)
        few = {1: COLUMNS[1], 3: COLUMNS[3], 7: COLUMNS[7], 9: COLUMNS[9]}
        pq.write_table(pa.table({f"c{k}": v for k, v in few.items()}), FILES / way, **BARE, **how)
    scratch.unlink()
    nested = pa.array([{"x": i, "y": [("k", None)] * (i % 2)} if i % 5 else None for i in range(ROWS)],
                      pa.struct([("x", pa.int64()), ("y", pa.map_(pa.string(), pa.date32()))]))
    pq.write_table(pa.table({"n": nested}), FILES / "nested", compression="none", store_schema=False)


main()
