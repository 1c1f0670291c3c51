"""Random programs: a table of random types, rounds of random operations, and a model of what every reader must see.

All of a program follows from its seed. The model is a list of rows for a log table; for a primary-key table the row under
each key and, for each key, the changes that its writes make, by the rules of engines.py: merge engines, writes of some
columns, deletes that are ignored, changelogs without old rows, columns that are added between rounds. run() writes with
pyfluss and compares after each round what its scanners and look-ups give, and at the end what pypaimon reads in the lake and
what `weir verify` says of it.

Some programs have partitions, by one column or two; their hot rows are read by look-ups and by `weir scan`.

A program has one writer, or five at a time, each a client of its own with its own operations. The keys of a primary-key
table are shared out among them, so that what happens to a key is one writer's and the model knows the order.
"""
import asyncio
import json
import random

import pyarrow as pa

from exceptions import by_merging_pypaimon, by_record_scanner

from . import canon
from .alter import add_columns
from .engines import Engine, create_table, functions
from .partitions import Partitions
from .types import KEYS, TYPES, nested
from .weir import Weir, verify

PARTITION_KEYS = ["string", "int", "bigint", "smallint", "tinyint", "date", "boolean", "time3", "timestamp3", "timestamp6", "binary4"]
COLUMNS_MAX, ROUNDS_MAX, ROWS_MAX, KEYS_MAX = 8, 4, 60, 25
WRITERS = 5


class Program:
    def __init__(self, seed):
        self.seed = seed
        self.random = r = random.Random(seed)
        self.is_pk = r.random() < 0.6
        self.writers = WRITERS if r.random() < 0.25 else 1
        self.makers, fields = {}, []
        kind = r.choice([None, None, None, "first_row", "versioned", "aggregation", "aggregation"]) if self.is_pk else None
        all_null = kind == "aggregation" or r.random() < 0.4  # only then some columns can be written apart
        key_count = r.choice([1, 1, 1, 2, 3]) if self.is_pk else 0
        for n in range(key_count + r.randrange(1, COLUMNS_MAX)):
            is_key = n < key_count
            if is_key or r.random() < 0.75:
                name = r.choice(KEYS if is_key else list(TYPES))
                arrow, edges, make = TYPES[name]
                make = self._with_edges(edges, make)
            else:
                name, arrow, make = nested(r)
            column = f"c{n}_{name}"[:40]
            nullable = not is_key and (all_null or r.random() < 0.8)
            fields.append(pa.field(column, arrow, nullable=nullable))
            self.makers[column] = self._with_nulls(make) if nullable else make
        if kind == "versioned":
            name = r.choice(["int", "bigint", "timestamp3", "timestamp6", "ltz3"])
            fields.append(pa.field("version", TYPES[name][0]))
            self.makers["version"] = self._with_nulls(self._with_edges(*TYPES[name][1:]))
        self.pk = [f.name for f in fields[:key_count]]
        r.shuffle(fields)
        self.schema = pa.schema(fields)
        self.buckets = r.choice([1, 1, 2, 3, 5])
        self._choose_partitions(random.Random(f"{seed} partitions"), kind)
        candidates = self.pk or [f.name for f in fields if f.name.split("_", 1)[1] in KEYS and not f.nullable]
        candidates = [c for c in candidates if c not in self.partition_keys]
        self.bucket_keys = r.sample(candidates, r.randrange(1, len(candidates) + 1)) if candidates and r.random() < 0.4 else None
        self.properties = {"table.log.arrow.compression.type": r.choice(["NONE", "LZ4_FRAME", "ZSTD"])}
        if self.is_pk:  # of logs in rows pyfluss reads nothing: test_log_forms.py has those
            self.properties["table.kv.format-version"] = random.Random(f"{seed} forms").choice(["1", "2"])
        self.lake = r.random() < 0.85
        self.engine = self._engine(kind)
        rest = [c for c in self.schema.names if c not in self.pk]
        self.apart = all_null and kind in (None, "aggregation") and [self.pk + r.sample(rest, r.randrange(len(rest) + 1)) for _ in range(3)]
        self.rounds = [self._round(n) for n in range(r.randrange(1, ROUNDS_MAX + 1))]

    def _engine(self, kind):
        r = self.random
        deletes = "allow" if kind is None or kind == "aggregation" and r.random() < 0.5 else "ignore"
        wal = self.is_pk and kind != "aggregation" and r.random() < 0.25
        of_column = {f.name: r.choice(functions(f.type)) for f in self.schema if f.name not in self.pk} if kind == "aggregation" else None
        if kind:
            self.properties["table.merge-engine"] = kind
        if kind == "versioned":
            self.properties["table.merge-engine.versioned.ver-column"] = "version"
        if kind == "aggregation" and deletes == "allow":
            self.properties["table.delete.behavior"] = "allow"
        if wal:
            self.properties["table.changelog.image"] = "WAL"
        return Engine(self.schema, self.pk, kind, deletes, wal, "version", of_column)

    def _choose_partitions(self, r, kind):
        """Few values of each partition column, which are names. A random source of its own: other programs stay as they were."""
        fits = [f.name for f in self.schema if f.name.split("_", 1)[-1] in PARTITION_KEYS and not f.nullable and (not self.is_pk or f.name in self.pk)]
        self.partition_keys = []
        if r.random() < 0.9 and fits and kind != "aggregation" and not (self.is_pk and len(self.pk) < 2):
            most = min(2, len(fits), len(self.pk) - 1 if self.is_pk else 2)
            self.partition_keys = r.sample(fits, r.randrange(1, most + 1))
        for c in self.partition_keys:
            make = TYPES[c.split("_", 1)[1]][2]
            few = ["a", "B-1", "x_9"] if c.endswith("_string") else [make(r) for _ in range(3)]
            self.makers[c] = lambda x, few=few: x.choice(few)

    @staticmethod
    def _with_edges(edges, make):
        return lambda r: r.choice(edges) if r.random() < 0.3 else make(r)

    @staticmethod
    def _with_nulls(make):
        return lambda r: None if r.random() < 0.2 else make(r)

    def _row(self):
        return {c: make(self.random) for c, make in self.makers.items()}

    def _key(self):
        return {c: self.makers[c](self.random) for c in self.pk}

    def _added(self, n):
        """The column that ALTER TABLE adds before round n, in a list; the schema of the program is still the one it begins with."""
        r = self.random
        if r.random() < 0.75:
            name = r.choice(list(TYPES))
            arrow, edges, make = TYPES[name]
            make = self._with_edges(edges, make)
        else:
            name, arrow, make = nested(r)
        field = pa.field(f"added{n}_{name}"[:40], arrow)
        self.makers[field.name] = self._with_nulls(make)
        if self.apart and r.random() < 0.7:
            self.apart = [*self.apart[1:], self.apart[0] + [field.name]]
        return [field]

    def _round(self, n):
        """The columns that are added before it, and for each writer a list of (operation, rows, columns): append, arrow, upsert,
        delete, flush. columns: those that are written, None for all of them."""
        added = self._added(n) if n and self.random.random() < 0.4 else []
        if self.is_pk and not hasattr(self, "keys"):
            self.keys = list({json.dumps(canon.row(k, self.schema)): k for k in (self._key() for _ in range(KEYS_MAX))}.values())
        return added, [self._key_operations(self.keys[w::self.writers]) if self.is_pk else self._log_operations() for w in range(self.writers)]

    def _log_operations(self):
        r = self.random
        return [(r.choice(["append", "arrow"]), [self._row() for _ in range(r.randrange(1, ROWS_MAX))], None) for _ in range(r.randrange(1, 4))]

    def _key_operations(self, keys):
        r, operations = self.random, []
        for _ in range(r.randrange(1, 5) if keys else 0):
            columns = r.choice(self.apart) if self.apart and r.random() < 0.5 else None
            if r.random() < 0.3:
                operations.append(("delete", r.sample(keys, r.randrange(1, min(6, len(keys)) + 1)), columns))
            else:
                operations.append(("upsert", [{**self._row(), **r.choice(keys)} for _ in range(r.randrange(1, ROWS_MAX // 2))], columns))
            if r.random() < 0.4:
                operations.append(("flush", [], None))
        return operations

    def __str__(self):
        kind = f"pk {self.pk}, {self.engine.kind}{' WAL' * self.engine.wal}" if self.is_pk else "log"
        return (f"program {self.seed}: {kind}, {self.writers} writers, {self.buckets} buckets by {self.bucket_keys}, {len(self.rounds)} rounds, "
                f"{self.schema.names}, added {[field.name for added, _ in self.rounds for field in added]}, "
                f"partitions by {self.partition_keys}")


class Model:
    def __init__(self, program, table):
        self.program, self.table = program, table
        self.log = []  # rows of a log table
        self.state, self.history = {}, {}  # key -> row as it was written, None where it went; key -> [(kind, canonical row)]

    def key(self, row):
        return json.dumps([row[c] for c in self.program.pk])

    def add(self, field):
        """What was written before is null in the new column."""
        self.program.schema = self.program.engine.schema = self.program.schema.append(field)
        told = [row for history in self.history.values() for _, row in history]
        for row in [*self.log, *told, *filter(None, self.state.values())]:
            row[field.name] = None

    def write(self, operation, rows, columns=None):
        canonical, engine = self.table.rows(rows), self.program.engine
        if operation in ("append", "arrow"):
            self.log += canonical
            return
        for raw, row in zip(rows, canonical):
            key = self.key(row)
            old = self.state.get(key)
            changes, new = engine.delete(old, columns) if operation == "delete" else engine.write(old, raw, columns)
            self.history.setdefault(key, []).extend((kind, self.table.rows([r])[0]) for kind, r in changes)
            self.state[key] = new

    def rows(self):
        return self.table.rows([r for r in self.state.values() if r is not None]) if self.program.is_pk else self.log

    def change_count(self):
        return sum(map(len, self.history.values())) if self.program.is_pk else len(self.log)


def _writer(table, writers, columns):
    """One for all columns, one for each choice of some; what they write is ordered by flushes alone."""
    if columns is None:
        return table.upserter
    key = tuple(columns)
    if key not in writers:
        writers[key] = table.handle.new_upsert().partial_update_by_name(columns).create_writer()
    return writers[key]


async def _add_columns(program, tables, model, fields):
    """The table as it is then, by each client."""
    table = tables[0]
    await asyncio.to_thread(add_columns, table.client.server, table.name, *fields)
    for field in fields:
        model.add(field)
    altered = [await t.client.open(table.path, program.schema, altered=True) for t in tables]
    model.table = altered[0]
    return altered


def _by_partition(program, rows):
    """pyfluss writes an Arrow batch to the partition of its first row."""
    batches = {}
    for row in rows:
        batches.setdefault(tuple(row[c] for c in program.partition_keys), []).append(row)
    return batches.values()


async def _write(program, table, model, operations):
    writers, last = {}, None
    for operation, rows, columns in operations:
        if operation == "append":
            for row in rows:
                table.appender.append(row)
        elif operation == "arrow":
            for batch in _by_partition(program, rows):
                table.appender.write_arrow_batch(pa.RecordBatch.from_pylist(batch, schema=program.schema))
        elif operation in ("upsert", "delete"):
            writer = _writer(table, writers, columns)
            if last not in (None, writer):
                await last.flush()
            last = writer
            for row in rows:
                if operation == "upsert":
                    writer.upsert(row if columns is None else {c: row[c] for c in columns})
                else:
                    writer.delete(row)
        elif last:
            await last.flush()
        model.write(operation, rows, columns)
    await (last or table.upserter if program.is_pk else table.appender).flush()


def _check_order(changes):
    """Offsets of a bucket rise; those of a log table without a hole."""
    last = {}
    for c in changes:
        before = last.get(c.bucket, -1)
        assert c.offset == before + 1 if c.kind == "+A" else c.offset > before, f"{c} after offset {before}"
        last[c.bucket] = c.offset


async def _check_log(program, table, model):
    cut = by_record_scanner(program.schema)
    changes = await table.scan(count=model.change_count())
    _check_order(changes)
    why = canon.differ(map(cut, (c.row for c in changes)), map(cut, model.log))
    assert why is None, f"record scanner: {why}"
    why = canon.differ(await table.arrow(), model.log)
    assert why is None, f"arrow scanner: {why}"
    some = program.random.sample(program.schema.names, program.random.randrange(1, len(program.schema) + 1))
    why = canon.differ(await table.arrow(some), [{c: row[c] for c in some} for row in model.log])
    assert why is None, f"projection {some}: {why}"


async def _check_pk(program, table, model):
    cut = by_record_scanner(program.schema)
    changes = await table.scan(count=model.change_count())
    _check_order(changes)
    seen, buckets = {}, {}
    for c in changes:
        key = model.key(c.row)
        seen.setdefault(key, []).append((c.kind, cut(c.row)))
        assert buckets.setdefault(key, c.bucket) == c.bucket, f"key {key} in two buckets"
    for key, history in model.history.items():
        want = [(kind, cut(row)) for kind, row in history]
        assert seen.get(key, []) == want, f"changelog of {key}: {seen.get(key)}, expected {want}"
    asked = program.random.sample(program.keys, min(12, len(program.keys)))
    for key, found in zip(asked, await table.lookup(asked)):
        want = model.state.get(model.key(canon.row(key, program.schema)))
        want = want and canon.row(want, program.schema)
        assert (found and cut(found)) == (want and cut(want)), f"look-up of {key}: {found}, expected {want}"


async def _check_partitioned(program, table, model):
    """What weir's client reads hot and from both sides is as many rows; which ones, verify and pypaimon tell."""
    cut = by_record_scanner(program.schema)
    weir = Weir(table.client.server.bootstrap)
    for how in ([], ["--hot"]):
        found = await asyncio.to_thread(weir.rows, "scan", table.name, *how)
        assert len(found) == len(model.rows()), f"weir scan {how}: {len(found)} rows, expected {len(model.rows())}"
    if program.is_pk:
        asked = program.random.sample(program.keys, min(6, len(program.keys)))
        for key, found in zip(asked, await table.lookup(asked)):
            want = model.state.get(model.key(canon.row(key, program.schema)))
            want = want and canon.row(want, program.schema)
            assert (found and cut(found)) == (want and cut(want)), f"look-up of {key}: {found}, expected {want}"


async def _check_limit(program, table, model):
    found = await table.limit(100000)
    why = canon.differ([row for rows in found.values() for row in rows], model.rows())
    assert why is None, f"limit scan: {why}"


async def _create(client, program):
    if program.engine.kind != "aggregation":
        partitions = {"partition_keys": program.partition_keys} if program.partition_keys else {}
        return await client.create(program.schema, program.pk or None, program.buckets, name="program", bucket_keys=program.bucket_keys,
                                   lake=program.lake, properties=program.properties, **partitions)
    lake = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"} if program.lake else {}
    path = client.path("program")
    sql = create_table(path.table_name, program.schema, program.pk, {**program.properties, **lake}, program.engine.of_column, program.buckets,
                       program.bucket_keys)
    await asyncio.to_thread(Weir(client.server.bootstrap).run, "sql", sql)
    return await client.open(path, program.schema)


async def run(client, seed, connect):
    """Runs one program; AssertionError says where reader and model part. Its table stays: pyfluss asks for the metadata of
    all tables it knows at once, and one that was dropped fails that call. connect(): a further client."""
    program = Program(seed)
    table = await _create(client, program)
    others = [await connect() for _ in range(program.writers - 1)]
    try:
        await _run(program, [table] + [await other.open(table.path, program.schema) for other in others])
    finally:
        for other in others:
            await other.close()


async def _run(program, tables):
    model = Model(program, tables[0])
    partitions = Partitions(tables[0].client.server, tables[0].name) if program.partition_keys else None
    check = _check_partitioned if partitions else _check_pk if program.is_pk else _check_log
    for n, (added, by_writer) in enumerate(program.rounds):
        if added:
            tables = await _add_columns(program, tables, model, added)
        table = tables[0]
        for _, rows, _ in (o for operations in by_writer if partitions for o in operations):
            partitions.make_for(rows, program.schema, program.partition_keys)
        await asyncio.gather(*(_write(program, t, model, operations) for t, operations in zip(tables, by_writer)))
        await check(program, table, model)
        if program.lake and (n == len(program.rounds) - 1 or program.random.random() < 0.3):
            await table.lake(model.rows(), cut=by_merging_pypaimon(program.schema) if program.is_pk else lambda row: row)
    if not partitions:
        await _check_limit(program, table, model)
    if program.lake:
        verdict = await verify(table.client.server, table.name)
        assert verdict["stream_rows"] == verdict["lake_rows"] == len(model.rows()), verdict
