"""pyfluss, made short: tables with their schema, scans that know when they are done, look-ups side by side."""
import asyncio
import itertools
import os
import time
from dataclasses import dataclass

import fluss

from . import canon, lake

EXTERNAL = "WEIR_E2E_BOOTSTRAP" in os.environ
LOOKUPERS = 32  # one lookuper of pyfluss does one look-up at a time, and each waits 100 ms for company
METADATA_TRIES = 5
_serial = itertools.count()
_run = f"{os.getpid()}_{int(time.time()) % 100000}"


@dataclass
class Change:
    bucket: int
    offset: int
    kind: str  # "+A", "+I", "-U", "+U", "-D"
    row: dict  # canonical
    time: int


async def connect(server, attributes=None, **options):
    """A Client of the server; options are pyfluss's, by their names; attributes of its Config go beyond what those reach."""
    config = fluss.Config({"bootstrap.servers": server.bootstrap, "writer.batch-timeout-ms": "5", **options})
    for name, value in (attributes or {}).items():
        setattr(config, name, value)
    conn = await fluss.FlussConnection.create(config)
    return Client(server, conn)


class Client:
    def __init__(self, server, conn):
        self.server, self.conn, self.admin = server, conn, conn.get_admin()
        self.database = "fluss"

    async def close(self):
        await self.conn.close()

    def path(self, name):
        """A name that no other table has."""
        return fluss.TablePath(self.database, f"{name}_{_run}_{next(_serial)}")

    async def create(self, schema, pk=None, buckets=1, name="t", lake=False, freshness="1s", bucket_keys=None, properties=None, numbered=None, **more):
        """A new table under a name of its own. lake: it is tiered, with that freshness. numbered: a column that the server
        numbers."""
        path = self.path(name)
        properties = dict(properties or {})
        if lake:
            properties |= {"table.datalake.enabled": "true", "table.datalake.freshness": freshness}
        if bucket_keys:
            more["bucket_keys"] = bucket_keys
        descriptor = fluss.TableDescriptor(fluss.Schema(schema, primary_keys=pk, auto_increment_column=numbered), bucket_count=buckets, properties=properties, **more)
        await self.admin.create_table(path, descriptor)
        if EXTERNAL:
            await self.leaders(path, buckets)
        return await self.open(path, schema)

    async def leaders(self, path, buckets):
        """Waits until each bucket has a leader. Stock needs it; weir answers CREATE TABLE only then."""
        for _ in range(300):
            try:
                await self.admin.list_offsets(path, list(range(buckets)), fluss.OffsetSpec.latest())
                return
            except fluss.FlussError:
                await asyncio.sleep(0.1)
        raise AssertionError(f"{path}: no leaders within 30 s")

    async def open(self, path, schema, altered=False):
        """altered: the table has batches of earlier schemas, with fewer columns."""
        return Table(self, path, schema, await self.conn.get_table(path), altered)


class Table:
    def __init__(self, client, path, schema, handle, altered=False):
        self.client, self.path, self.schema, self.handle = client, path, schema, handle
        # Of batches that lack columns pyfluss reads only what a projection names (exceptions.py): then all are named.
        self.named = schema.names if altered else None
        info = handle.get_table_info()
        self.id, self.buckets, self.pk = info.table_id, info.num_buckets, info.get_primary_keys()
        self.name = f"{path.database_name}.{path.table_name}"
        self._appender = self._upserter = None
        self._lookupers = []

    @property
    def appender(self):
        self._appender = self._appender or self.handle.new_append().create_writer()
        return self._appender

    @property
    def upserter(self):
        self._upserter = self._upserter or self.handle.new_upsert().create_writer()
        return self._upserter

    async def append(self, rows):
        for r in rows:
            self.appender.append(r)
        await self.appender.flush()

    async def append_arrow(self, batch):
        self.appender.write_arrow_batch(batch)
        await self.appender.flush()

    async def upsert(self, rows):
        for r in rows:
            self.upserter.upsert(r)
        await self.upserter.flush()

    async def delete(self, keys):
        for k in keys:
            self.upserter.delete(k)
        await self.upserter.flush()

    async def ends(self, spec=None):
        """Bucket -> offset; the next one to be written, unless spec asks for others."""
        for tries in range(METADATA_TRIES):
            try:
                return await self.client.admin.list_offsets(self.path, list(range(self.buckets)), spec or fluss.OffsetSpec.latest())
            except fluss.FlussError as e:  # the client's own: an answer about metadata for another table overwrote this one's
                if "Table info not found" not in str(e) or tries == METADATA_TRIES - 1:
                    raise
                await asyncio.sleep(0.1)

    async def scan(self, count=None, start=None, columns=None, seconds=30):
        """The changes from start (bucket -> offset; the earliest) in the order they came. Ends when count changes came,
        or without count at the offsets that are the latest at the call."""
        builder = self.handle.new_scan()
        schema, columns = self.schema, columns or self.named
        if columns is not None:
            builder = builder.project_by_name(columns)
            schema = [self.schema.field(c) for c in columns]
        scanner = await builder.create_log_scanner()
        start = start or {b: fluss.EARLIEST_OFFSET for b in range(self.buckets)}
        scanner.subscribe_buckets(start)
        ends = {} if count is not None else {b: e for b, e in (await self.ends()).items() if b in start and e > max(start[b], 0)}
        out, deadline = [], time.monotonic() + seconds
        while ends if count is None else len(out) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name}: {len(out)} changes within {seconds} s, expected {count or ends}")
            records = await scanner.poll(200)
            for bucket, found in records.items():
                out += [Change(bucket.bucket_id, r.offset, r.change_type.short_string(), canon.row(r.row, schema), r.timestamp) for r in found]
                if found and found[-1].offset + 1 >= ends.get(bucket.bucket_id, 1 << 62):
                    ends.pop(bucket.bucket_id)
        return out

    async def arrow(self, columns=None):
        """All rows of a log table as canonical dicts, by the Arrow scanner."""
        builder = self.handle.new_scan()
        schema, columns = self.schema, columns or self.named
        if columns is not None:
            builder = builder.project_by_name(columns)
            schema = [self.schema.field(c) for c in columns]
        scanner = await builder.create_record_batch_log_scanner()
        scanner.subscribe_buckets({b: fluss.EARLIEST_OFFSET for b in range(self.buckets)})
        return canon.table(await scanner.to_arrow(), schema)

    async def filtered(self, predicate, count, seconds=30):
        """The rows that the server sends under a condition, by the Arrow scanner: until there are count of them, as many as
        meet it, and nothing follows. (Which others come with them is the server's choice, and to_arrow() of pyfluss does
        not end where the last batches are left away.)"""
        builder = self.handle.new_scan().filter(predicate)
        builder = builder.project_by_name(self.named) if self.named else builder
        scanner = await builder.create_record_batch_log_scanner()
        scanner.subscribe_buckets({b: fluss.EARLIEST_OFFSET for b in range(self.buckets)})
        out, deadline, quiet = [], time.monotonic() + seconds, False
        while (len(out) < count or not quiet) and time.monotonic() < deadline:
            found = await scanner.poll_arrow(200)
            quiet = found.num_rows == 0
            out += canon.table(found, self.schema) if found.num_rows else []
        return out

    async def limit(self, n, columns=None):
        """A limit scan of each bucket: bucket -> canonical rows."""
        out = {}
        for b in range(self.buckets):
            builder = self.handle.new_scan().limit(n)
            schema = self.schema
            if columns is not None:
                builder = builder.project_by_name(columns)
                schema = [self.schema.field(c) for c in columns]
            tab = await builder.create_bucket_batch_scanner(fluss.TableBucket(self.id, b)).to_arrow()
            out[b] = canon.table(tab, schema) if tab.num_rows else []
        return out

    async def lookup(self, keys):
        """The rows under the keys, canonical, None where there is none; many at a time."""
        keys = list(keys)
        while len(self._lookupers) < min(LOOKUPERS, len(keys)):
            self._lookupers.append(self.handle.new_lookup().create_lookuper())
        out = [None] * len(keys)

        async def worker(lookuper, mine):
            for i in mine:
                found = await lookuper.lookup(keys[i])
                out[i] = None if found is None else canon.row(found, self.schema)
        await asyncio.gather(*(worker(lk, range(n, len(keys), len(self._lookupers))) for n, lk in enumerate(self._lookupers)))
        return out

    async def lake(self, want, seconds=60, cut=lambda r: r):
        """Waits until the lake holds exactly these canonical rows."""
        return await lake.until(self.client.server.warehouse, self.name, self.schema, want, seconds, cut)

    def rows(self, rows):
        """Rows as the tests write them, in canonical form."""
        return [canon.row(r, self.schema) for r in rows]


async def partial(t, columns, upserts=(), deletes=()):
    """Upserts and deletes of some columns."""
    writer = t.handle.new_upsert().partial_update_by_name(columns).create_writer()
    for r in upserts:
        writer.upsert(r)
    for k in deletes:
        writer.delete(k)
    await writer.flush()


def fold(changes, pk):
    """What a changelog comes to: key -> row. Fails where a change does not fit what came before it."""
    state = {}
    for c in changes:
        key = tuple(str(c.row[k]) for k in pk)
        if c.kind in ("-U", "-D"):
            assert state.get(key) == c.row, f"{c} takes back a row that was {state.get(key)}"
            if c.kind == "-D":
                del state[key]
        else:
            assert (key in state) == (c.kind == "+U"), f"{c} while the key held {state.get(key)}"
            state[key] = c.row
    return state
