"""Parquet, judged by pyarrow on both sides: it writes files in the ways that readers meet, `weir-parquet copy` reads each
and writes it anew, and pyarrow must find the same rows in the copy. So neither our reader nor our writer is judged by the
other."""
import datetime
import decimal
import os
import pathlib
import random
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("WEIR_E2E_BINARY", ROOT / "build/asan/weir")).with_name("weir-parquet")
GOLDEN = ROOT / "test/golden/paimon-by-fluss"
pytestmark = pytest.mark.skipif("WEIR_E2E_BOOTSTRAP" in os.environ, reason="needs no server, but the build")

NESTED = [
    pa.list_(pa.int32()), pa.list_(pa.list_(pa.string())), pa.map_(pa.string(), pa.float64()),
    pa.struct([("x", pa.int64()), ("y", pa.list_(pa.struct([("z", pa.string()), ("w", pa.bool_())])))]),
    pa.map_(pa.int32(), pa.list_(pa.struct([("d", pa.decimal128(20, 3))]))),
]
SCALARS = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(),
    pa.binary(7), pa.decimal128(9, 2), pa.decimal128(18, 0), pa.decimal128(38, 10), pa.date32(), pa.time32("ms"),
    pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"),
]


def value(rng, t):
    if rng.random() < 0.2:
        return None
    if pa.types.is_list(t):
        return [value(rng, t.value_type) for _ in range(rng.choice([0, 1, 1, 5]))]
    if pa.types.is_map(t):
        keys = {k for k in (value(rng, t.key_type) for _ in range(rng.choice([0, 1, 4]))) if k is not None}
        return [(k, value(rng, t.item_type)) for k in sorted(keys)]
    if pa.types.is_struct(t):
        return {f.name: value(rng, f.type) for f in t}
    if pa.types.is_boolean(t):
        return rng.random() < 0.5
    if pa.types.is_integer(t):
        return rng.randrange(-(1 << t.bit_width - 1), 1 << t.bit_width - 1)
    if pa.types.is_floating(t):
        return float(rng.randrange(-1000, 1000)) / 4
    if pa.types.is_string(t):
        return rng.choice(["", "a", "höhe", f"a longer one {rng.randrange(50)}"])
    if pa.types.is_fixed_size_binary(t) and not pa.types.is_decimal(t):
        return rng.randbytes(t.byte_width)
    if pa.types.is_binary(t):
        return rng.randbytes(rng.randrange(9))
    if pa.types.is_decimal(t):
        digits = rng.randrange(-10**t.precision + 1, 10**t.precision)
        return decimal.Context(prec=60).scaleb(decimal.Decimal(digits), -t.scale)
    if pa.types.is_date(t):
        return datetime.date(1970, 1, 1) + datetime.timedelta(rng.randrange(-200000, 200000))
    if pa.types.is_time(t):
        return datetime.time(rng.randrange(24), rng.randrange(60), rng.randrange(60), rng.randrange(1000) * 1000)
    micros = rng.randrange(-10**15, 10**15)
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros - micros % (1000 if t.unit == "ms" else 1))


def table(seed, rows, types, few=False):
    rng = random.Random(seed)
    arrays = []
    for t in types:
        some = [value(rng, t) for _ in range(5 if few else rows)]
        arrays.append(pa.array([rng.choice(some) if few else some[i] for i in range(rows)], t))
    return pa.table(arrays, names=[f"c{i}" for i in range(len(types))])


def run(*args):
    return subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True)


def copy(path, profile="paimon", codec="zstd"):
    out = path.with_name(path.name + "-copy")
    done = run("copy", profile, codec, path, out)
    assert done.returncode == 0, done.stderr
    return out


def same(got, want):
    assert got.num_rows == want.num_rows
    for name in want.column_names:
        g, w = got[name].combine_chunks(), want[name].combine_chunks()
        if pa.types.is_nested(w.type):
            assert g.to_pylist() == w.to_pylist(), name
        else:
            assert g.cast(w.type).equals(w), name


WAYS = {
    "usual": {},
    "v2": {"data_page_version": "2.0"},
    "v2-snappy": {"data_page_version": "2.0", "compression": "snappy"},
    "v2-none": {"data_page_version": "2.0", "compression": "none"},
    "none": {"compression": "none"},
    "gzip": {"compression": "gzip"},
    "lz4": {"compression": "lz4"},
    "zstd": {"compression": "zstd"},
    "plain": {"use_dictionary": False},
    "plain-v2": {"use_dictionary": False, "data_page_version": "2.0"},
    "small-pages": {"data_page_size": 200, "row_group_size": 300, "write_batch_size": 50},
    "small-dictionary": {"dictionary_pagesize_limit": 200, "data_page_size": 400, "write_batch_size": 50},
    "int96": {"use_deprecated_int96_timestamps": True},
    "old-lists": {"use_compliant_nested_type": False},
    "format-1.0": {"version": "1.0", "coerce_timestamps": "us", "allow_truncated_timestamps": True},
    "integer-decimals": {"store_decimal_as_integer": True},
    "page-index": {"write_page_index": True, "write_page_checksum": True},
}


@pytest.mark.parametrize("few", [False, True], ids=["any", "few"])
@pytest.mark.parametrize("way", WAYS)
def test_copy_of_what_pyarrow_writes_is_equal(tmp_path, way, few):
    for seed, rows in enumerate([0, 1, 65, 700]):
        t = table(seed, rows, SCALARS + NESTED, few)
        pq.write_table(t, tmp_path / "t", **WAYS[way])
        same(pq.read_table(copy(tmp_path / "t")), t)


@pytest.mark.parametrize("codec", ["none", "zstd", "gzip", "snappy", "lz4_raw"])
@pytest.mark.parametrize("profile", ["paimon", "iceberg"])
def test_every_codec_and_profile_is_read_by_pyarrow(tmp_path, profile, codec):
    for few in (False, True):
        t = table(7, 2000, SCALARS + NESTED, few)
        pq.write_table(t, tmp_path / "t")
        out = copy(tmp_path / "t", profile, codec)
        same(pq.read_table(out), t)
        same(pq.read_table(copy(out, profile, codec)), t)


def unscaled(v):
    return v if isinstance(v, int) else int.from_bytes(v, "big", signed=True)


def test_statistics_are_those_that_pyarrow_finds(tmp_path):
    t = table(3, 3000, SCALARS)
    pq.write_table(t, tmp_path / "t")
    meta = pq.ParquetFile(copy(tmp_path / "t")).metadata
    theirs = pq.ParquetFile(tmp_path / "t").metadata
    with_bounds = 0
    for i, kind in enumerate(SCALARS):
        ours, want = meta.row_group(0).column(i).statistics, theirs.row_group(0).column(i).statistics
        if ours is None:  # pyarrow 19 shows none at all of INT96
            assert meta.row_group(0).column(i).physical_type == "INT96", kind
            continue
        assert ours.null_count == want.null_count == t.column(i).null_count
        if not ours.has_min_max:
            continue
        with_bounds += 1
        if pa.types.is_decimal(kind):
            most = [int(decimal.Context(prec=60).scaleb(v, kind.scale)) for v in t.column(i).to_pylist() if v is not None]
            assert (unscaled(ours.min_raw), unscaled(ours.max_raw)) == (min(most), max(most)), kind
        else:
            assert (ours.min, ours.max) == (want.min, want.max), kind
    assert with_bounds == len(SCALARS) - 1  # INT96 has none


def test_a_filter_by_statistics_loses_no_row(tmp_path):
    t = table(5, 5000, SCALARS)
    pq.write_table(t, tmp_path / "t", row_group_size=500)
    out = copy(tmp_path / "t")
    some = sorted({v for v in t["c3"].to_pylist() if v is not None})[::97]
    for v in some:
        assert pq.read_table(out, filters=[("c3", "==", v)]).num_rows == t["c3"].to_pylist().count(v)


def test_files_of_java_paimon_are_copied_alike(tmp_path):
    files = sorted(GOLDEN.rglob("*.parquet"))
    assert len(files) > 50
    for f in files:
        here = tmp_path / "t"
        here.write_bytes(f.read_bytes())
        out = copy(here)
        assert pq.ParquetFile(out).read().equals(pq.ParquetFile(f).read()), f
        assert str(pq.ParquetFile(out).schema).split("\n")[1:] == str(pq.ParquetFile(f).schema).split("\n")[1:], f


@pytest.mark.parametrize("word,how", [
    ("Brotli", {"compression": "brotli"}),
    ("DELTA_BINARY_PACKED", {"use_dictionary": False, "column_encoding": {"c0": "DELTA_BINARY_PACKED"}}),
    ("DELTA_LENGTH_BYTE_ARRAY", {"use_dictionary": False, "column_encoding": {"c1": "DELTA_LENGTH_BYTE_ARRAY"}}),
    ("DELTA_BYTE_ARRAY", {"use_dictionary": False, "column_encoding": {"c1": "DELTA_BYTE_ARRAY"}}),
    ("BYTE_STREAM_SPLIT", {"use_dictionary": False, "column_encoding": {"c2": "BYTE_STREAM_SPLIT"}}),
])
def test_what_is_not_read_is_refused_by_name(tmp_path, word, how):
    t = table(1, 100, [pa.int32(), pa.string(), pa.float64()])
    pq.write_table(t, tmp_path / "t", **how)
    done = run("copy", "paimon", "zstd", tmp_path / "t", tmp_path / "out")
    assert done.returncode == 1 and "NOT_SUPPORTED" in done.stderr and word in done.stderr


def test_orc_is_refused_by_name(tmp_path):
    orc = pytest.importorskip("pyarrow.orc")
    orc.write_table(table(1, 10, [pa.int32()]), tmp_path / "t")
    done = run("copy", "paimon", "zstd", tmp_path / "t", tmp_path / "out")
    assert done.returncode == 1 and "ORC" in done.stderr
