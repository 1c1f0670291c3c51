"""Paimon tables written by weir-paimon (src/lake/paimon without a server), judged by pypaimon; and tables of pypaimon read
by weir-paimon. The rows come from here, so neither our reader nor our writer is judged by the other."""
import decimal
import json
import os
import pathlib
import random
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import exceptions
from harness import canon, lake
from test_parquet import NESTED, SCALARS, value

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("WEIR_E2E_BINARY", ROOT / "build/asan/weir")).with_name("weir-paimon")
INSERT, BEFORE, AFTER, DELETE = range(4)
KEYS = [pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.string(), pa.binary(), pa.decimal128(9, 2),
        pa.decimal128(38, 10), pa.date32(), pa.time32("ms"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("us", "UTC")]


def run(*args, ok=True):
    done = subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True)
    assert (done.returncode == 0) == ok, (args, done.returncode, done.stderr)
    return done.stdout if ok else done.stderr


# ---- Fluss's JSON of a table with these Arrow columns ----

PLAIN = {pa.bool_(): "BOOLEAN", pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INTEGER", pa.int64(): "BIGINT",
         pa.float32(): "FLOAT", pa.float64(): "DOUBLE", pa.string(): "STRING", pa.binary(): "BYTES", pa.date32(): "DATE"}
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def type_json(t, nullable=True):
    out = {} if nullable else {"nullable": False}
    if t in PLAIN:
        return {"type": PLAIN[t], **out}
    if pa.types.is_decimal(t):
        return {"type": "DECIMAL", "precision": t.precision, "scale": t.scale, **out}
    if pa.types.is_time(t):
        return {"type": "TIME_WITHOUT_TIME_ZONE", "precision": DIGITS[t.unit], **out}
    if pa.types.is_timestamp(t):
        kind = "TIMESTAMP_WITH_LOCAL_TIME_ZONE" if t.tz else "TIMESTAMP_WITHOUT_TIME_ZONE"
        return {"type": kind, "precision": DIGITS[t.unit], **out}
    if pa.types.is_fixed_size_binary(t):
        return {"type": "BINARY", "length": t.byte_width, **out}
    if pa.types.is_list(t):
        return {"type": "ARRAY", "element_type": type_json(t.value_type), **out}
    if pa.types.is_map(t):
        return {"type": "MAP", "key_type": type_json(t.key_type, False), "value_type": type_json(t.item_type), **out}
    return {"type": "ROW", "fields": [{"name": f.name, "field_type": type_json(f.type)} for f in t], **out}


class Table:
    """A table of ours and what it must hold."""

    def __init__(self, folder, schema, key=(), bucket_key=None, buckets=2, options=None):
        self.folder, self.schema, self.key = folder, schema, list(key)
        self.warehouse, self.name = str(folder / "lake"), "d.t"
        self.where = (self.warehouse, "d", "t")
        self.live = {} if key else []
        self.rounds = 0
        columns = [{"name": f.name, "data_type": type_json(f.type, f.name not in self.key)} for f in schema]
        (folder / "table.json").write_text(json.dumps({
            "version": 1, "schema": {"version": 1, "columns": columns, **({"primary_key": self.key} if key else {})},
            "partition_key": [], "bucket_key": ([bucket_key] if bucket_key else []), "bucket_count": buckets,
            "properties": {"table.datalake.format": "paimon"}, "custom_properties": options or {}}))
        run("create", *self.where, folder / "table.json")

    def round(self, changes, record=None):
        """changes: (kind, row) of a primary-key table, rows of another."""
        self.rounds += 1
        keyed = bool(self.key)
        rows = [r for _, r in changes] if keyed else changes
        arrays = [pa.array([r[f.name] for r in rows], f.type) for f in self.schema]
        names = [f.name for f in self.schema]
        if keyed:
            arrays.append(pa.array([k for k, _ in changes], pa.int8()))
            names.append("_kind")
        path = self.folder / "round"
        pq.write_table(pa.table(arrays, names=names), path)
        run("round", *self.where, path, *([record] if record else []))
        if not keyed:
            self.live += rows
        for kind, r in changes if keyed else ():
            if kind in (BEFORE, DELETE):
                self.live.pop(self.key_of(r), None)
            else:
                self.live[self.key_of(r)] = r

    def key_of(self, row):
        return tuple(row[k] for k in self.key)

    def want(self, cut=lambda r: r):
        rows = self.live.values() if self.key else self.live
        return [cut(canon.row(r, self.schema)) for r in rows]

    def check(self):
        """pypaimon, and our own scan, find the rows."""
        cut = exceptions.by_merging_pypaimon(self.schema) if self.key else lambda r: r
        assert canon.differ(map(cut, lake.read(self.warehouse, self.name, self.schema)), self.want(cut)) is None
        assert canon.differ(self.scan(), self.want()) is None

    def scan(self, snapshot=None, schema=None):
        out = self.folder / "scan"
        run("scan", *self.where, out, *([snapshot] if snapshot else []))
        return canon.table(pq.read_table(out), schema or self.schema)

    def files(self, snapshot=None):
        """The live files of a snapshot as pypaimon's $files would have them, from the manifests."""
        import fastavro
        base = pathlib.Path(self.warehouse) / "d.db/t"
        s = json.loads((base / f"snapshot/snapshot-{snapshot or lake.snapshot(self.warehouse, self.name).id}").read_text())
        live = {}
        for name in (s["baseManifestList"], s["deltaManifestList"]):
            for m in fastavro.reader(open(base / "manifest" / name, "rb")):
                for e in fastavro.reader(open(base / "manifest" / m["_FILE_NAME"], "rb")):
                    if e["_KIND"] == 0:
                        live[e["_FILE"]["_FILE_NAME"]] = e
                    else:
                        del live[e["_FILE"]["_FILE_NAME"]]
        return list(live.values())


def schema_of(types):
    return pa.schema([pa.field(f"c{i}", t) for i, t in enumerate(types)])


def random_row(rng, schema, **fixed):
    return {f.name: value(rng, f.type) for f in schema} | fixed


def changes(rng, table, count, space):
    """Random changes as a changelog has them: +I, or -U and +U, or -D, of keys out of space."""
    out, live = [], dict(table.live)
    while len(out) < count:
        key = dict(zip(table.key, rng.choice(space)))
        old = live.get(tuple(key.values()))
        row = random_row(rng, table.schema, **key)
        if old is None:
            out.append((INSERT, row))
            live[tuple(key.values())] = row
        elif rng.random() < 0.3:
            out.append((DELETE, old))
            del live[tuple(key.values())]
        else:
            out += [(BEFORE, old), (AFTER, row)]
            live[tuple(key.values())] = row
    return out


def key_space(rng, types, count):
    """Distinct keys of these types; none is null."""
    found = set()
    for _ in range(count * 50):
        key = tuple(value(rng, t) for t in types)
        if None not in key:
            found.add(key)
        if len(found) == count:
            break
    return sorted(found, key=repr)


# ---- what we write, pypaimon reads ----

@pytest.mark.parametrize("seed", range(3))
def test_a_primary_key_table_of_all_types(tmp_path, seed):
    rng = random.Random(seed)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string(), *SCALARS, *NESTED]), key=["c0", "c1"], bucket_key="c0", buckets=3)
    space = key_space(rng, [pa.int32(), pa.string()], 40)
    for _ in range(4):
        t.round(changes(rng, t, 60, space))
        t.check()


@pytest.mark.parametrize("kind", KEYS, ids=str)
def test_keys_are_in_the_order_of_paimon(tmp_path, kind):
    rng = random.Random(str(kind))
    t = Table(tmp_path, schema_of([kind, pa.int32()]), key=["c0"], bucket_key="c0", buckets=1)
    space = key_space(rng, [kind], 60)
    for _ in range(5):  # overlapping files: a wrong order shows as a row twice
        t.round(changes(rng, t, 50, space))
    t.check()


@pytest.mark.parametrize("bucket_key", [None, "c4"])
def test_a_log_table_of_all_types(tmp_path, bucket_key):
    rng = random.Random(7)
    t = Table(tmp_path, schema_of([*SCALARS, *NESTED]), bucket_key=bucket_key, buckets=3)
    for _ in range(3):
        t.round([random_row(rng, t.schema) for _ in range(200)])
        t.check()


def test_system_columns_are_never_null(tmp_path):
    rng = random.Random(1)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), key=["c0"], bucket_key="c0")
    t.round(changes(rng, t, 50, key_space(rng, [pa.int32()], 20)))
    rows = lake.read(t.warehouse, t.name, t.schema, system=True)
    assert rows and all(r[c] is not None for r in rows for c in lake.SYSTEM)
    assert {r["__timestamp"] - r["__offset"] * 10**6 for r in rows} == {1700000000000 * 10**6}


def test_rows_are_in_the_buckets_where_pypaimon_looks_for_them(tmp_path):
    rng = random.Random(2)
    t = Table(tmp_path, schema_of([pa.int64(), pa.string()]), key=["c0"], bucket_key="c0", buckets=7)
    t.round([(INSERT, {"c0": i, "c1": str(i)}) for i in range(200)])
    table = lake.open_table(t.warehouse, t.name)
    for i in rng.sample(range(200), 20):
        builder = table.new_read_builder()
        builder = builder.with_filter(builder.new_predicate_builder().equal("c0", i))
        found = builder.new_read().to_arrow(builder.new_scan().plan().splits())
        assert [r for r in found["c0"].to_pylist() if r == i] == [i]


def test_a_filter_by_statistics_loses_no_row(tmp_path):
    rng = random.Random(3)
    t = Table(tmp_path, schema_of([pa.int64(), pa.string(), pa.float64(), pa.decimal128(20, 2), pa.timestamp("us"), pa.date32()]))
    for i in range(5):
        t.round([random_row(rng, t.schema, c0=rng.randrange(i * 10, i * 10 + 30)) for _ in range(40)])
    table = lake.open_table(t.warehouse, t.name)
    for column in ("c0", "c1", "c2", "c3", "c5"):
        for v in rng.sample([r[column] for r in t.live if r[column] is not None], 10):
            builder = table.new_read_builder()
            builder = builder.with_filter(builder.new_predicate_builder().equal(column, v))
            splits = builder.new_scan().plan().splits()
            got = builder.new_read().to_arrow(splits)[column].to_pylist()
            assert got.count(v) == [r[column] for r in t.live].count(v), (column, v)


def test_what_the_manifest_says_of_a_file_is_true(tmp_path):
    rng = random.Random(4)
    t = Table(tmp_path, schema_of([pa.int32(), *SCALARS]), key=["c0"], bucket_key="c0", buckets=2)
    for _ in range(3):
        t.round(changes(rng, t, 80, key_space(rng, [pa.int32()], 30)))
    greatest = {}
    for e in sorted(t.files(), key=lambda e: e["_FILE"]["_MIN_SEQUENCE_NUMBER"]):
        f, path = e["_FILE"], pathlib.Path(t.warehouse) / f"d.db/t/bucket-{e['_BUCKET']}" / e["_FILE"]["_FILE_NAME"]
        rows = pq.read_table(path)
        assert f["_FILE_SIZE"] == path.stat().st_size and f["_ROW_COUNT"] == rows.num_rows
        kinds, sequences, keys = (rows[c].to_pylist() for c in ("_VALUE_KIND", "_SEQUENCE_NUMBER", "_KEY_c0"))
        assert f["_DELETE_ROW_COUNT"] == sum(k in (BEFORE, DELETE) for k in kinds)
        assert (f["_MIN_SEQUENCE_NUMBER"], f["_MAX_SEQUENCE_NUMBER"]) == (min(sequences), max(sequences))
        assert keys == sorted(set(keys)) and keys == rows["c0"].to_pylist()
        assert int.from_bytes(f["_MIN_KEY"][12:16], "little", signed=True) == keys[0]
        assert int.from_bytes(f["_MAX_KEY"][12:16], "little", signed=True) == keys[-1]
        counts = dict(zip(f["_VALUE_STATS_COLS"], f["_VALUE_STATS"]["_NULL_COUNTS"]))
        assert counts == {c: rows[c].null_count for c in counts}
        assert min(sequences) > greatest.get(e["_BUCKET"], -1)
        greatest[e["_BUCKET"]] = max(sequences)


def test_changelog_files_hold_all_changes(tmp_path):
    rng = random.Random(5)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), key=["c0"], bucket_key="c0", buckets=1)
    made = changes(rng, t, 100, key_space(rng, [pa.int32()], 10))
    t.round(made)
    (path,) = pathlib.Path(t.warehouse).rglob("changelog-*.parquet")
    rows = pq.read_table(path).sort_by("_SEQUENCE_NUMBER")
    assert [(k, r) for k, r in zip(rows["_VALUE_KIND"].to_pylist(), rows.select(["c0", "c1"]).to_pylist())] == made
    assert lake.snapshot(t.warehouse, t.name).changelog_manifest_list


def test_an_empty_round_is_a_snapshot_with_properties(tmp_path):
    t = Table(tmp_path, schema_of([pa.int32()]), key=["c0"], bucket_key="c0")
    t.round([])
    s = lake.snapshot(t.warehouse, t.name)
    assert (s.id, s.commit_kind, s.commit_user, s.properties) == (1, "APPEND", "__fluss_lake_tiering", {"fluss-offsets": "test/offsets"})
    t.round([(INSERT, {"c0": 1})])
    t.check()


def test_many_rounds_keep_the_base_small(tmp_path):
    rng = random.Random(6)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), key=["c0"], bucket_key="c0", buckets=1)
    space = key_space(rng, [pa.int32()], 20)
    for _ in range(35):
        t.round(changes(rng, t, 5, space))
    t.check()
    import fastavro
    base = pathlib.Path(t.warehouse) / "d.db/t"
    s = json.loads((base / "snapshot/snapshot-35").read_text())
    assert len(list(fastavro.reader(open(base / "manifest" / s["baseManifestList"], "rb")))) < 30
    assert s["totalRecordCount"] == sum(e["_FILE"]["_ROW_COUNT"] for e in t.files())
    assert lake.dangling(t.warehouse, t.name) == []


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip"])
def test_the_codec_that_the_table_asks_for(tmp_path, codec):
    rng = random.Random(8)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), options={"paimon.file.compression": codec})
    t.round([random_row(rng, t.schema) for _ in range(100)])
    t.check()
    (path,) = pathlib.Path(t.warehouse).rglob("data-*.parquet")
    used = pq.ParquetFile(path).metadata.row_group(0).column(0).compression
    assert used.lower() == {"none": "uncompressed"}.get(codec, codec)


def test_files_are_cut_at_the_size_that_the_table_asks_for(tmp_path):
    rng = random.Random(9)
    t = Table(tmp_path, schema_of([pa.int64(), pa.binary(64)]), key=["c0"], bucket_key="c0", buckets=1,
              options={"paimon.target-file-size": "256 kb"})
    t.round([(INSERT, {"c0": i, "c1": rng.randbytes(64)}) for i in range(20000)])
    t.check()
    files = t.files()
    assert len(files) > 3 and all(f["_FILE"]["_FILE_SIZE"] < 900_000 for f in files)


# ---- compaction ----

def raw_splits(t):
    splits = lake.open_table(t.warehouse, t.name).new_read_builder().new_scan().plan().splits()
    return [s.raw_convertible for s in splits]


@pytest.mark.parametrize("seed", range(3))
def test_a_full_compaction_leaves_one_raw_run(tmp_path, seed):
    rng = random.Random(seed)
    t = Table(tmp_path, schema_of([pa.int32(), *SCALARS, *NESTED]), key=["c0"], bucket_key="c0", buckets=2)
    space = key_space(rng, [pa.int32()], 50)
    for _ in range(3):
        for _ in range(3):
            t.round(changes(rng, t, 30, space))
        before = lake.snapshot(t.warehouse, t.name)
        run("compact", *t.where, "full")
        after = lake.snapshot(t.warehouse, t.name)
        assert (after.commit_kind, after.commit_user, after.properties) == ("COMPACT", before.commit_user, before.properties)
        t.check()
        assert all(raw_splits(t))
        files = [e["_FILE"] for e in t.files()]
        assert {f["_LEVEL"] for f in files} == {5} and {f["_FILE_SOURCE"] for f in files} <= {0, 1}
        assert sum(f["_DELETE_ROW_COUNT"] for f in files) == 0
        assert after.total_record_count == sum(f["_ROW_COUNT"] for f in files) == len(t.live)
        assert canon.differ(t.scan(before.id), t.want()) is None  # what was there before is still there
        assert run("compact", *t.where, "full") == ""


def test_sorted_runs_stay_few_and_rows_the_same(tmp_path):
    rng = random.Random(12)
    t = Table(tmp_path, schema_of([pa.int32(), pa.binary(100)]), key=["c0"], bucket_key="c0", buckets=1)
    t.round([(INSERT, {"c0": i, "c1": rng.randbytes(100)}) for i in range(3000)])
    run("compact", *t.where, "full")
    levels, space = set(), [(i,) for i in range(3000)]
    for n in range(14):
        t.round(changes(rng, t, 20, space))
        run("compact", *t.where)
        files = [e["_FILE"] for e in t.files()]
        assert sum(f["_LEVEL"] == 0 for f in files) + len({f["_LEVEL"] for f in files} - {0}) <= 5
        levels |= {f["_LEVEL"] for f in files}
    t.check()
    assert len(levels) > 2  # the large run was not rewritten each time
    assert lake.dangling(t.warehouse, t.name) == []


def test_deletes_go_only_where_nothing_older_is_left(tmp_path):
    t = Table(tmp_path, schema_of([pa.int32(), pa.binary(2000)]), key=["c0"], bucket_key="c0", buckets=1)
    rng = random.Random(13)
    t.round([(INSERT, {"c0": i, "c1": rng.randbytes(2000)}) for i in range(300)])
    run("compact", *t.where, "full")
    for i in range(0, 60, 10):  # small against the first run: they are merged above it
        t.round([(DELETE, {"c0": k, "c1": t.live[(k,)]["c1"]}) for k in range(i, i + 5)])
        run("compact", *t.where)
        t.check()
    files = [e["_FILE"] for e in t.files()]
    assert any(f["_DELETE_ROW_COUNT"] and f["_LEVEL"] > 0 for f in files)
    run("compact", *t.where, "full")
    t.check()
    assert sum(e["_FILE"]["_DELETE_ROW_COUNT"] for e in t.files()) == 0


def test_large_files_that_overlap_nothing_are_not_rewritten(tmp_path):
    t = Table(tmp_path, schema_of([pa.int32(), pa.binary(200)]), key=["c0"], bucket_key="c0", buckets=1,
              options={"paimon.target-file-size": "64 kb"})
    rng = random.Random(14)
    for n in range(4):  # growing keys, as of an event table
        t.round([(INSERT, {"c0": n * 1000 + i, "c1": rng.randbytes(200)}) for i in range(1000)])
    before = {e["_FILE"]["_FILE_NAME"] for e in t.files()}
    run("compact", *t.where, "full")
    files = [e["_FILE"] for e in t.files()]
    assert before & {f["_FILE_NAME"] for f in files} and {f["_LEVEL"] for f in files} == {5}
    t.check()
    assert all(raw_splits(t))
    run("expire", *t.where, 1)
    t.check()


@pytest.mark.parametrize("bucket_key", [None, "c0"])
def test_small_files_of_a_log_table_are_joined_in_order(tmp_path, bucket_key):
    rng = random.Random(15)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), bucket_key=bucket_key, buckets=1)
    for n in range(20):
        t.round([random_row(rng, t.schema, c0=n * 10 + i) for i in range(10)])
        run("compact", *t.where)
    t.check()
    assert len(t.files()) == 5
    assert [r["c0"] for r in t.scan()] == list(range(200))
    run("compact", *t.where, "full")
    (only,) = t.files()
    assert (only["_FILE"]["_MIN_SEQUENCE_NUMBER"], only["_FILE"]["_MAX_SEQUENCE_NUMBER"], only["_FILE"]["_ROW_COUNT"]) == (0, 199, 200)
    assert [r["c0"] for r in t.scan()] == list(range(200))


# ---- expiry ----

@pytest.mark.parametrize("keyed", [True, False])
def test_expiry_removes_what_only_old_snapshots_needed(tmp_path, keyed):
    rng = random.Random(16)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), key=["c0"] if keyed else [], bucket_key="c0", buckets=2)
    space = key_space(rng, [pa.int32()], 40)
    for n in range(12):
        t.round(changes(rng, t, 20, space) if keyed else [random_row(rng, t.schema) for _ in range(10)])
        run("compact", *t.where, *(["full"] if n % 4 == 0 else []))
        if n % 4 == 3:
            run("expire", *t.where, 3)
            t.check()
            assert lake.dangling(t.warehouse, t.name) == []
    base = pathlib.Path(t.warehouse) / "d.db/t"
    ids = sorted(int(p.name[9:]) for p in (base / "snapshot").glob("snapshot-*"))
    assert len(ids) == 3 and (base / "snapshot/EARLIEST").read_text() == str(ids[0])
    for i in ids:
        t.scan(i)
    live = {e["_FILE"]["_FILE_NAME"] for i in ids for e in t.files(i)}
    assert {p.name for p in base.glob("bucket-*/data-*")} == live


def test_expiry_spares_what_tags_and_consumers_need(tmp_path):
    rng = random.Random(17)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), key=["c0"], bucket_key="c0", buckets=1)
    space = key_space(rng, [pa.int32()], 20)
    base = pathlib.Path(t.warehouse) / "d.db/t"
    for n in range(3):
        t.round(changes(rng, t, 20, space))
    tagged = t.want()
    (base / "tag").mkdir()
    (base / "tag/tag-kept").write_text((base / "snapshot/snapshot-3").read_text())
    for n in range(6):
        t.round(changes(rng, t, 20, space))
        run("compact", *t.where, "full")
    (base / "consumer").mkdir()
    (base / "consumer/consumer-me").write_text('{"nextSnapshot": 8}')
    run("expire", *t.where, 1)
    assert min(int(p.name[9:]) for p in (base / "snapshot").glob("snapshot-*")) == 8
    (base / "consumer/consumer-me").unlink()
    run("expire", *t.where, 1)
    assert len(list((base / "snapshot").glob("snapshot-*"))) == 1
    t.check()
    table = lake.open_table(t.warehouse, t.name).copy({"scan.tag-name": "kept"})
    builder = table.new_read_builder()
    rows = builder.new_read().to_arrow(builder.new_scan().plan().splits())
    assert canon.differ(canon.table(rows, t.schema), tagged) is None


# ---- what pypaimon writes, we read ----

def pypaimon_table(folder, schema, **how):
    from pypaimon import CatalogFactory, Schema
    catalog = CatalogFactory.create({"warehouse": str(folder / "theirs")})
    catalog.create_database("d", True)
    catalog.create_table("d.t", Schema.from_pyarrow_schema(schema, **how), False)
    return catalog.get_table("d.t")


def pypaimon_write(table, rows):
    builder = table.new_batch_write_builder()
    write, commit = builder.new_write(), builder.new_commit()
    write.write_arrow(rows)
    commit.commit(write.prepare_commit())
    write.close()
    commit.close()


@pytest.mark.parametrize("keyed", [False, True])
def test_tables_of_pypaimon_are_read(tmp_path, keyed):
    rng = random.Random(10)
    # pypaimon has no TIME, and its own timestamps end at the microsecond
    types = [t for t in SCALARS if not pa.types.is_time(t) and t != pa.timestamp("ns") and not pa.types.is_fixed_size_binary(t)
             or pa.types.is_decimal(t)]
    schema = pa.schema([pa.field("c0", pa.int32(), nullable=False)] + [pa.field(f"c{i + 1}", t) for i, t in enumerate(types)])
    how = {"primary_keys": ["c0"], "options": {"bucket": "2"}} if keyed else {}
    table = pypaimon_table(tmp_path, schema, **how)
    live = {}
    for n in range(4):
        rows = [random_row(rng, schema, c0=i if keyed else n * 100 + i) for i in rng.sample(range(60), 40)]
        pypaimon_write(table, pa.Table.from_pylist(rows, schema))
        live |= {r["c0"]: r for r in rows}
    run("scan", tmp_path / "theirs", "d", "t", tmp_path / "scan")
    got = canon.table(pq.read_table(tmp_path / "scan"), schema)
    assert canon.differ(got, [canon.row(r, schema) for r in live.values()]) is None


def test_both_write_to_one_table(tmp_path):
    rng = random.Random(11)
    t = Table(tmp_path, schema_of([pa.int32(), pa.string()]), key=["c0"], bucket_key="c0")
    space = key_space(rng, [pa.int32()], 20)
    theirs = lake.open_table(t.warehouse, t.name).copy({"changelog-producer": "none"})
    for n in range(6):
        t.round(changes(rng, t, 20, space))
        rows = [random_row(rng, t.schema, c0=rng.choice(space)[0])]
        system = {"__bucket": 0, "__offset": -1, "__timestamp": None}
        fields = list(t.schema) + [pa.field("__bucket", pa.int32()), pa.field("__offset", pa.int64()),
                                   pa.field("__timestamp", pa.timestamp("ms", "UTC"))]
        fields[0] = fields[0].with_nullable(False)
        pypaimon_write(theirs, pa.Table.from_pylist([r | system for r in rows], pa.schema(fields)))
        t.live |= {t.key_of(r): r for r in rows}
        t.check()


def test_fluss_golden_tables_are_read(tmp_path):
    golden = ROOT / "test/golden/paimon-by-fluss"
    for folder in sorted(p.parent for p in golden.glob("*/expected.jsonl")):
        name = folder.name.replace("-", "_")
        run("scan", folder / "warehouse", "golden", name, tmp_path / "scan")
        ours = pq.read_table(tmp_path / "scan")
        want = [json.loads(line) for line in (folder / "expected.jsonl").read_text().splitlines()]
        schema = pa.schema([f for f in ours.schema if f.name in want[0]])

        def text(v, t):
            if v is None or isinstance(v, (bool, int, str, float)) and not pa.types.is_float32(t):
                return v
            if pa.types.is_binary(t):
                return v.hex()
            if pa.types.is_decimal(t):
                return str(v)
            if pa.types.is_time(t):
                return v.isoformat(timespec="microseconds")
            if pa.types.is_timestamp(t):
                return v.replace(tzinfo=None).isoformat(timespec="microseconds") + ("Z" if t.tz else "")
            return v if pa.types.is_floating(t) else v.isoformat()
        got = [{f.name: text(r[f.name], f.type) for f in schema} for r in ours.to_pylist()]
        assert canon.differ(got, want) is None, folder.name
