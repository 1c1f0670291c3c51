#!/usr/bin/env python3
"""Makes the fuzz corpus of src/log: checkpoints without their checksum (layout: src/log/checkpoint.c).

    tools/corpus_log.py        writes test/corpus/checkpoint_fuzz/ anew
"""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "test/corpus/checkpoint_fuzz"


def checkpoint(start, max_ms, segments, writers, version=2, rows_end=None):
    out = struct.pack("<4sIqq", b"WLCP", version, start, max_ms)
    if version > 1:
        out += struct.pack("<q", start if rows_end is None else rows_end)
    out += struct.pack("<I", len(segments))
    for segment in segments:
        out += struct.pack("<qqQqI", *segment)
    out += struct.pack("<I", len(writers))
    for writer, batches in writers:
        out += struct.pack("<qB", writer, len(batches))
        for batch in batches:
            out += struct.pack("<iIqq", *batch)
    return out


CASES = {
    "empty-log": checkpoint(0, -1, [(0, 0, 0, -1, 0)], []),
    "two-segments": checkpoint(7, 90, [(7, 20, 5000, 80, 2), (20, 21, 60, 90, 1)], [], rows_end=20),
    "version-1": checkpoint(7, 90, [(7, 20, 5000, 80, 2), (20, 21, 60, 90, 1)], [], version=1),
    "rows-end-behind-the-end": checkpoint(7, 90, [(7, 20, 5000, 80, 2)], [], rows_end=21),
    "rows-end-before-the-start": checkpoint(7, 90, [(7, 20, 5000, 80, 2)], [], rows_end=6),
    "writers": checkpoint(0, 9, [(0, 12, 900, 9, 1)],
                          [(5, [(i, 1, 2 * i, 9) for i in range(5)]), (1 << 62, [(0, 0, 10, 9)])]),
    "gap-between-segments": checkpoint(7, 90, [(7, 20, 5000, 80, 2), (21, 22, 60, 90, 1)], []),
    "no-segment": checkpoint(0, -1, [], []),
    "six-batches": checkpoint(0, 9, [(0, 12, 900, 9, 1)], [(5, [(i, 1, 2 * i, 9) for i in range(6)])]),
    "other-version": checkpoint(0, -1, [(0, 0, 0, -1, 0)], [], version=3),
}

CORPUS.mkdir(parents=True, exist_ok=True)
for name, data in CASES.items():
    (CORPUS / name).write_bytes(data)
