"""What a program is: its table, and what its writers write in each round."""
import json
import random

import pyarrow as pa

from .. import canon
from ..engines import Engine, functions
from ..types import KEYS, TYPES, nested
from . import features

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
        if self.is_pk:
            self.properties["table.kv.format-version"] = random.Random(f"{seed} forms").choice(["1", "2"])
        self.lake = r.random() < 0.85
        self.engine = self._engine(kind)
        rest = [c for c in self.schema.names if c not in self.pk]
        self.all_null = all(self.schema.field(c).nullable for c in rest)
        self.apart = all_null and kind in (None, "aggregation") and [self.pk + r.sample(rest, r.randrange(len(rest) + 1)) for _ in range(3)]
        self._choose_features()
        self.rounds = [self._round(n) for n in range(r.randrange(1, ROUNDS_MAX + 1))]

    def _choose_features(self):
        """What none of them is by itself; features.py says what each means."""
        self.by_weir, self.conditions, self.prefix, self.numbered = set(), [], None, None
        self.inserts, self.server, self.between = False, None, None
        self.reads = random.Random(f"{self.seed} reads")  # what is asked for, beside self.random
        self.chosen = features.choose(self)

    @property
    def written(self):
        """The columns of a write of all of them, where the server numbers one; else None."""
        return self.numbered and [c for c in self.schema.names if c != self.numbered]

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
            columns = None if "writes" in self.by_weir else columns  # all that `weir put` writes
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
                f"partitions by {self.partition_keys}, {'in the lake, ' * self.lake}options {self.properties}; "
                f"{', '.join(self.chosen) or 'nothing else'}")
