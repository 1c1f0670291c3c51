"""A program's tables, and its writes: by pyfluss, by `weir put` and `weir delete`, by look-ups that insert."""
import asyncio
import itertools

import fluss
import pyarrow as pa

from ..alter import add_columns
from ..engines import create_table
from ..json_rows import line
from ..keys import compacted, paimon
from ..weir import YES, Weir
from ..wire import Wire, look_up


async def create(client, program):
    if program.engine.kind != "aggregation":
        partitions = {"partition_keys": program.partition_keys} if program.partition_keys else {}
        return await client.create(program.schema, program.pk or None, program.buckets, name="program", bucket_keys=program.bucket_keys,
                                   lake=program.lake, properties=program.properties, numbered=program.numbered, **partitions)
    more = {"table.datalake.enabled": "true", "table.datalake.freshness": "1s"} if program.lake else {}
    more |= {"auto-increment.fields": program.numbered} if program.numbered else {}
    path = client.path("program")
    sql = create_table(path.table_name, program.schema, program.pk, {**program.properties, **more}, program.engine.of_column, program.buckets,
                       program.bucket_keys)
    await asyncio.to_thread(Weir(client.server.bootstrap).run, "sql", sql)
    return await client.open(path, program.schema)


async def add(program, tables, model, fields):
    """The table as it is then, by each client."""
    table = tables[0]
    await asyncio.to_thread(add_columns, table.client.server, table.name, *fields)
    for field in fields:
        model.add(field)
    altered = [await t.client.open(table.path, program.schema, altered=True) for t in tables]
    model.table = altered[0]
    return altered


async def write(program, table, model, operations):
    """Those of one writer, in their order."""
    by = _by_weir if "writes" in program.by_weir else _by_pyfluss
    await by(program, table, model, operations)


async def _by_weir(program, table, model, operations):
    """One command for what follows each other and is alike."""
    weir = Weir(table.client.server.bootstrap)
    alike = itertools.groupby((o for o in operations if o[0] != "flush"), key=lambda o: o[0] == "delete")
    for is_delete, group in alike:
        rows = [row for _, some, _ in group for row in some]
        operation = "delete" if is_delete else "upsert" if program.is_pk else "append"
        verb, columns = ("delete", program.pk) if is_delete else ("put", program.written or program.schema.names)
        lines = "\n".join(line({c: row[c] for c in columns}, program.schema) for row in rows)
        refused = is_delete and program.engine.deletes == "disable"
        await asyncio.to_thread(weir.run, verb, table.name, stdin=lines, code=None if refused else YES)
        if refused:
            assert weir.code and "does not take deletes" in weir.errors, (weir.code, weir.errors)
        model.write(operation, rows)


def _by_partition(program, rows):
    """pyfluss writes an Arrow batch to the partition of its first row."""
    batches = {}
    for row in rows:
        batches.setdefault(tuple(row[c] for c in program.partition_keys), []).append(row)
    return batches.values()


async def _by_pyfluss(program, table, model, operations):
    writers, last = {}, None
    for operation, rows, columns in operations:
        columns = columns or program.written
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
            await (_upsert if operation == "upsert" else _delete)(program, writer, rows, columns)
        elif last:
            await last.flush()
        model.write(operation, rows, columns)
    await (last or _writer(table, writers, program.written) if program.is_pk else table.appender).flush()


def _writer(table, writers, columns):
    """One for all columns, one for each choice of some; what they write is ordered by flushes alone."""
    if columns is None:
        return table.upserter
    key = tuple(columns)
    if key not in writers:
        writers[key] = table.handle.new_upsert().partial_update_by_name(columns).create_writer()
    return writers[key]


async def _upsert(program, writer, rows, columns):
    for row in rows:
        writer.upsert(row if columns is None else {c: row[c] for c in columns})


async def _delete(program, writer, rows, columns):
    if program.engine.deletes != "disable":
        for row in rows:
            writer.delete(row)
        return
    await writer.flush()
    try:
        await writer.delete(rows[0]).wait()
    except fluss.FlussError as e:
        assert e.error_code == fluss.ErrorCode.DELETION_DISABLED_EXCEPTION, e
    else:
        raise AssertionError("a delete was taken")


async def insert(program, table, model):
    """Look-ups of some keys, which insert those that are missing."""
    keys = program.reads.sample(program.keys, min(6, len(program.keys)))
    default = program.bucket_keys in (None, program.pk) or program.properties["table.kv.format-version"] == "1"
    encoded = [(paimon if default else compacted)(key, program.schema, program.pk) for key in keys]
    fields = look_up(table.id, encoded, insert_if_not_exists=True, acks=-1, timeout_ms=10000)

    def ask():
        with Wire(table.client.server.bootstrap) as wire:
            return wire.call("LOOKUP", fields, 1)["buckets_resp"][0]
    answer = await asyncio.to_thread(ask)
    assert not answer.get("error_code") and all("values" in v for v in answer["values"]), answer
    model.write("insert", keys, program.pk)
