#!/usr/bin/env python3
"""Makes the fuzz corpus of src/format/avro: small container files of every kind of value, and two of Java Paimon's.

    tools/corpus_avro.py        writes test/corpus/avro_reader_fuzz/ anew
"""
import pathlib, shutil, struct, zlib

root = pathlib.Path(__file__).resolve().parent.parent
out = root / "test/corpus/avro_reader_fuzz"
out.mkdir(exist_ok=True)


def zigzag(v):
    v = (v << 1) ^ (v >> 63)
    b = bytearray()
    while v > 127:
        b.append(v & 127 | 128)
        v >>= 7
    return bytes(b + bytes([v]))


def text(b):
    return zigzag(len(b)) + b


def container(schema, codec, blocks):
    sync = b"0123456789abcdef"
    f = b"Obj\1" + zigzag(2) + text(b"avro.schema") + text(schema) + text(b"avro.codec") + text(codec) + zigzag(0) + sync
    for count, block in blocks:
        f += zigzag(count) + text(block) + sync
    return f


def deflate(b):
    z = zlib.compressobj(6, zlib.DEFLATED, -15)
    return z.compress(b) + z.flush()


RECORD = (b'{"type":"record","name":"r","fields":[{"name":"_VERSION","type":"int"},{"name":"s","type":["null","string"]},'
          b'{"name":"a","type":{"type":"array","items":"long"}},{"name":"m","type":{"type":"map","values":"double"}},'
          b'{"name":"n","type":["null","r"]}]}')
row = zigzag(2) + zigzag(1) + text(b"str") + zigzag(2) + zigzag(-1) + zigzag(9) + zigzag(0)
row += zigzag(1) + text(b"k") + struct.pack("<d", 1.5) + zigzag(0)
row = row + zigzag(1) + row + zigzag(0)
(out / "null").write_bytes(container(RECORD, b"null", [(1, row), (2, row + row)]))
(out / "deflate").write_bytes(container(RECORD, b"deflate", [(3, deflate(row * 3))]))
(out / "scalars").write_bytes(container(
    b'[{"type":"enum","name":"e","symbols":["A","B"]},{"type":"fixed","name":"f","size":3},"float","boolean"]', b"null",
    [(4, zigzag(0) + zigzag(1) + zigzag(1) + b"abc" + zigzag(2) + bytes(4) + zigzag(3) + b"\1")]))
manifests = root / "test/golden/paimon-by-fluss/log-no-key/warehouse/golden.db/log_no_key/manifest"
for prefix in ("manifest-list-", "manifest-4"):
    shutil.copy(min(manifests.glob(prefix + "*")), out / ("paimon-" + prefix.strip("-4")))
