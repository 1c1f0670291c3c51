"""What readers give after a round, against the model: pyfluss, and weir's commands for what pyfluss does not read."""
import asyncio
from collections import Counter

from exceptions import by_record_scanner

from .. import canon, json_rows
from ..client import Change
from ..partitions import Partitions
from ..weir import NO, YES, Weir
from ..wire import Wire
from .conditions import condition, nan_free


async def check(program, table, model):
    await (_check_pk if program.is_pk else _check_log)(program, table, model)


def _same(what, got, want):
    why = canon.differ(got, want)
    assert why is None, f"{what}: {why}"


async def _weir(program, table, verb, *args, code=YES):
    """(row, own columns) of each line that it prints."""
    text = await asyncio.to_thread(Weir(table.client.server.bootstrap).run, verb, table.name, *args, "-o", "jsonl", code=code)
    return json_rows.read(text, program.schema)


async def _rows_by_weir(program, table, *args):
    return [row for row, _ in await _weir(program, table, "scan", *args)]


async def _check_scan(program, table, model):
    """The server's rows, or the lake's and those behind them."""
    how = program.reads.choice([[], ["--hot"]])
    _same(f"weir scan {how}", await _rows_by_weir(program, table, *how), model.rows())


async def _tail(program, table, start, count, *args):
    found = await _weir(program, table, "tail", "--changes", "--from", str(start), "--limit", str(count), "--deadline", "60s", *args)
    return [Change(int(own["_bucket"]), int(own["_offset"]), own["_change"], row, 0) for row, own in found]


async def _changes(program, table, count):
    """All of them; pyfluss is not asked for those of many partitions, nor for those in rows."""
    if program.partition_keys or "changes" in program.by_weir:
        return await _tail(program, table, "earliest", count) if count else []
    return await table.scan(count=count)


def _check_order(program, changes):
    """Offsets of a bucket rise; those of a log table without a hole."""
    last = {}
    for c in changes:
        place = (*(c.row[k] for k in program.partition_keys), c.bucket)
        before = last.get(place, -1)
        assert c.offset == before + 1 if c.kind == "+A" else c.offset > before, f"{c} after offset {before}"
        last[place] = c.offset


async def _check_middle(program, table, changes):
    """From any offset of some buckets, and some columns: what stands there in the whole log."""
    r, ends = program.reads, {c.bucket: c.offset for c in changes}
    if not ends or program.partition_keys or "changes" in program.by_weir and r.random() < 0.6:
        return
    if "changes" in program.by_weir:
        bucket = r.choice(list(ends))
        start = {bucket: r.randrange(ends[bucket] + 1)}
    else:
        start = {b: r.randrange(ends[b] + 1) for b in r.sample(list(ends), r.randrange(1, len(ends) + 1))}
    some = r.sample(program.schema.names, r.randrange(1, len(program.schema) + 1))
    behind = [c for c in changes if c.offset >= start.get(c.bucket, 1 << 62)]
    if "changes" in program.by_weir:
        found = await _tail(program, table, start[bucket], len(behind), "--bucket", str(bucket))
    else:
        found = await table.scan(count=len(behind), start=start, columns=some)
    def told(c):
        return c.bucket, c.offset, c.kind, {name: c.row[name] for name in some}
    got, want = sorted(map(told, found), key=repr), sorted(map(told, behind), key=repr)
    assert got == want, f"from {start}, columns {some}: {[x for x in got if x not in want][:3]}, expected {[x for x in want if x not in got][:3]}"


async def _check_log(program, table, model):
    cut = by_record_scanner(program.schema)
    changes = await _changes(program, table, model.change_count())
    _check_order(program, changes)
    _same("changes", map(cut, (c.row for c in changes)), map(cut, model.log))
    await _check_middle(program, table, changes)
    if program.partition_keys or "changes" in program.by_weir:
        await _check_scan(program, table, model)
        return
    _same("Arrow scanner", await table.arrow(), model.log)
    some = program.random.sample(program.schema.names, program.random.randrange(1, len(program.schema) + 1))
    _same(f"projection {some}", await table.arrow(some), [{c: row[c] for c in some} for row in model.log])
    if program.conditions:
        await _check_condition(program, table, model)


async def _check_condition(program, table, model):
    """Rows that meet it, none missing; and of the others only those that are there."""
    text, predicate, meets = condition(program, model.raw, program.reads)
    everything = Counter(canon.bag(model.log))
    matching = Counter(canon.bag(row for row, raw in zip(model.log, model.raw) if nan_free(program, raw) and meets(raw)))
    got = Counter(canon.bag(await table.filtered(predicate, matching.total())))
    assert not got - everything, f"where {text}: unexpected {list((got - everything).items())[:3]}"
    assert not matching - got, f"where {text}: missing {list((matching - got).items())[:3]}"


async def _check_pk(program, table, model):
    cut = by_record_scanner(program.schema)
    changes = await _changes(program, table, model.change_count())
    _check_order(program, changes)
    seen, buckets = {}, {}
    for c in changes:
        key = model.key(c.row)
        seen.setdefault(key, []).append((c.kind, cut(c.row)))
        assert buckets.setdefault(key, c.bucket) == c.bucket, f"key {key} in two buckets"
    if program.numbered:
        model.learn(program.numbered, seen)
    for key, history in model.history.items():
        want = [(kind, cut(row)) for kind, row in history]
        assert seen.get(key, []) == want, f"changelog of {key}: {seen.get(key)}, expected {want}"
    await _check_middle(program, table, changes)
    await _check_lookups(program, table, model, cut)
    if program.prefix:
        await _check_prefixes(program, table, model, cut)
    if program.partition_keys or "rows" in program.by_weir:
        await _check_scan(program, table, model)


async def _check_lookups(program, table, model, cut):
    asked = program.random.sample(program.keys, min(6 if program.partition_keys else 12, len(program.keys)))
    wanted = [model.state.get(model.key(canon.row(key, program.schema))) for key in asked]
    wanted = [row and cut(canon.row(row, program.schema)) for row in wanted]
    if "rows" in program.by_weir:
        found = await _weir(program, table, "get", *(json_rows.line(key, program.schema) for key in asked), code=NO if None in wanted else YES)
        assert [cut(row) for row, _ in found] == [row for row in wanted if row], f"weir get {asked}: {found}, expected {wanted}"
        return
    for key, found, want in zip(asked, await table.lookup(asked), wanted):
        assert (found and cut(found)) == want, f"look-up of {key}: {found}, expected {want}"


async def _check_prefixes(program, table, model, cut):
    """The rows of a few keys' fronts."""
    if "rows" in program.by_weir:
        return
    lookuper = table.handle.new_lookup().lookup_by(program.prefix).create_lookuper()
    for key in program.reads.sample(program.keys, min(3, len(program.keys))):
        front = {c: key[c] for c in program.prefix}
        found = [cut(canon.row(row, program.schema)) for row in await lookuper.lookup(front)]
        asked = canon.row(front, program.schema)
        _same(f"look-up by {front}", found, [cut(row) for row in model.rows() if all(row[c] == asked[c] for c in program.prefix)])


async def check_end(program, table, model):
    """What is looked at once: limits, counts."""
    await _check_limits(program, table, model)
    await asyncio.to_thread(_check_count, program, table, len(model.rows()))


async def _check_limits(program, table, model):
    few, everything = program.reads.randrange(1, 10), Counter(canon.bag(model.rows()))
    if program.partition_keys or program.by_weir & {"rows", "changes"} - ({"changes"} if program.is_pk else set()):
        found = await _rows_by_weir(program, table, "--hot", "--limit", str(few))
        assert len(found) == min(few, len(model.rows())) and not Counter(canon.bag(found)) - everything, f"limit {few}: {found}"
        return
    found = await table.limit(100000)
    _same("limit scan", [row for rows in found.values() for row in rows], model.rows())
    for bucket, some in (await table.limit(few)).items():
        whole = Counter(canon.bag(found[bucket]))
        assert len(some) == min(few, len(found[bucket])) and not Counter(canon.bag(some)) - whole, f"limit {few} of bucket {bucket}: {some}"


def _check_count(program, table, want):
    """GET_TABLE_STATS, which counts no table with a changelog of the image WAL."""
    if program.engine.wal:
        return
    parts = [{"partition_id": p} for p in Partitions(table.client.server, table.name).list().values()] if program.partition_keys else [{}]
    places = [{**part, "bucket_id": b} for part in parts for b in range(table.buckets)]
    with Wire(table.client.server.bootstrap) as wire:
        answer = wire.call("GET_TABLE_STATS", {"table_id": table.id, "buckets_req": places}) if places else {"buckets_resp": []}
    counts = [b.get("row_count", f"error {b.get('error_code')}") for b in answer["buckets_resp"]]
    assert all(isinstance(n, int) for n in counts) and sum(counts) == want, f"rows counted: {counts}, expected {want}"
