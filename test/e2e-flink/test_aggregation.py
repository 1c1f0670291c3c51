"""Tables that add up, by Flink's sink: it leaves the offsets of its start with the server, and after a failure takes
back what was written since, so that each row counts once."""
import itertools
import json
import time

import pytest

from flink import folded, same
from harness.weir import Weir
from harness.wire import Wire

SUMS = "CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, total BIGINT, names STRING) WITH ('bucket.num'='2', " \
       "'table.merge-engine'='aggregation', 'fields.total.agg'='sum', 'fields.names.agg'='listagg', 'fields.names.listagg.delimiter'='|'{})"
LAKE = ", 'table.datalake.enabled'='true', 'table.datalake.freshness'='1s'"
RESTART = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "3", "restart-strategy.fixed-delay.delay": "100 ms"}
failures = itertools.count(1_000_000)  # fail_once() knows each for the life of the process


def offsets_of(server, producer):
    with Wire(server.bootstrap) as wire:
        return wire.call("GET_PRODUCER_OFFSETS", {"producer_id": producer}).get("table_offsets", [])


def until(ask, want, seconds=100):
    end = time.monotonic() + seconds
    while (got := ask()) != want:
        assert time.monotonic() < end, f"{got} after {seconds} s, expected {want}"
        time.sleep(0.2)


def test_rows_add_up_hot_and_in_the_lake(flink, db, tiered):
    flink.sql(SUMS.format(LAKE))
    for row in ("(1, 5, 'a'), (2, 7, 'b')", "(1, -2, 'c')", "(1, CAST(NULL AS BIGINT), 'd')"):
        flink.sql(f"INSERT INTO t VALUES {row}")
    want = [(1, 3, "a|c|d"), (2, 7, "b")]
    same(flink.sql("SELECT * FROM t LIMIT 10"), want)
    tiered("t", want, "id, total, names")
    flink.sql("ALTER TABLE t SET ('table.datalake.freshness'='1h'); INSERT INTO t (id, total) VALUES (2, 1), (3, 9)")
    want = [(1, 3, "a|c|d"), (2, 8, "b"), (3, 9, None)]
    same(flink.sql("SELECT * FROM t"), want)
    with flink.query("SELECT * FROM t") as q:
        q.until(lambda changes: sorted(map(repr, folded(changes))) == sorted(map(repr, want)))


def test_a_job_that_ends_leaves_no_offsets(flink, shared, db):
    flink.sql(SUMS.format(f", 'sink.producer-id'='ends-{db}'") + "; INSERT INTO t VALUES (1, 5, 'a'), (1, 6, 'b')")
    assert flink.sql("SELECT * FROM t LIMIT 5") == [(1, 11, "a|b")]
    assert offsets_of(shared, f"ends-{db}") == []


def test_what_a_job_left_behind_is_taken_back_by_the_next_of_its_name(flink, shared, db):
    """Cancelled before a checkpoint: its rows stand in the table until a job with the same producer id begins."""
    flink.sql("CREATE TABLE src (k INT, n BIGINT, s STRING) WITH ('bucket.num'='1'); INSERT INTO src VALUES (1, 10, 'x'), (2, 20, 'y')")
    flink.sql(SUMS.format(f", 'sink.producer-id'='left-{db}'"))
    with flink.query("INSERT INTO t SELECT k, n, s FROM src"):
        until(lambda: sorted(flink.sql("SELECT * FROM t LIMIT 5")), [(1, 10, "x"), (2, 20, "y")])
        [table] = offsets_of(shared, f"left-{db}")
        assert sorted((b["bucket_id"], b["log_end_offset"]) for b in table["bucket_offsets"]) == [(0, 0), (1, 0)]
    assert sorted(flink.sql("SELECT * FROM t LIMIT 5")) == [(1, 10, "x"), (2, 20, "y")]
    flink.sql("INSERT INTO t VALUES (1, 100, 'z'), (1, 200, 'z')")
    assert flink.sql("SELECT * FROM t LIMIT 5") == [(1, 300, "z|z")]
    assert offsets_of(shared, f"left-{db}") == []


@pytest.mark.parametrize("partitioned", [False, True], ids=["plain", "partitions"])
@pytest.mark.parametrize("checkpoints", [False, True], ids=["from_the_start", "from_a_checkpoint"])
def test_each_row_counts_once_over_a_failure(flink, shared, db, tmp_path, checkpoints, partitioned):
    producer, bad, weir = f"fails-{db}", next(failures), Weir(shared.bootstrap)
    late = "2" if partitioned else "1"  # a partition that the sink itself makes
    flink.sql("CREATE TABLE src (k INT, n INT, `day` STRING) WITH ('bucket.num'='1')")
    key, parts = ("id, `day`", "PARTITIONED BY (`day`)") if partitioned else ("id", "")
    flink.sql(f"CREATE TABLE t (id INT NOT NULL, total BIGINT, `day` STRING NOT NULL, PRIMARY KEY ({key}) NOT ENFORCED) {parts} WITH "
              f"('bucket.num'='2', 'table.merge-engine'='aggregation', 'fields.total.agg'='sum', 'sink.producer-id'='{producer}')")
    options = dict(RESTART)
    if checkpoints:
        options |= {"execution.checkpointing.interval": "1500 ms", "execution.checkpointing.dir": f"file://{tmp_path}"}

    def write(*rows):
        weir.run("put", f"{db}.src", stdin="\n".join(json.dumps({"k": k, "n": n, "day": day}) for k, n, day in rows))

    def sums(want):
        until(lambda: sorted((r["id"], r["total"]) for r in weir.rows("scan", f"{db}.t")), want)
    with flink.query(f"INSERT INTO t SELECT k, CAST(fail_once(n, {bad}) AS BIGINT), `day` FROM src", options):
        write((1, 1, "1"), (2, 5, "1"), (1, 2, "1"), (3, 7, "1"))
        sums([(1, 3), (2, 5), (3, 7)])
        assert offsets_of(shared, producer) != [] or partitioned
        if checkpoints:
            for _ in range(2):  # the first may have begun before the rows
                seen = newest(tmp_path)
                until(lambda: newest(tmp_path) > seen, True)
        write((1, 10, "1"), (4, 4, late))
        sums([(1, 13), (2, 5), (3, 7), (4, 4)])
        write((1, 20, "1"), (2, bad, "1"), (4, 1, late))
        sums([(1, 33), (2, bad + 5), (3, 7), (4, 5)])
        if checkpoints:
            until(lambda: offsets_of(shared, producer), [])
    with flink.query("SELECT _change_type, id, total FROM `t$changelog`") as q:
        q.until(lambda changes: left(changes) == {1: 33, 2: bad + 5, 3: 7, 4: 5}, 100)
        q.take(1000, 3)  # buckets come one by one: the others may have more
        gone = {id for _, kind, id, _ in q.rows if kind == "delete"}
    assert (3 in gone) == (not checkpoints) and (checkpoints or gone == {1, 2, 3, 4})


def left(changes):
    """What a changelog with its kinds as text comes to."""
    state = {}
    for _, kind, id, total in changes:
        if kind == "delete":
            del state[id]
        elif kind != "update_before":
            state[id] = total
    return state


def newest(directory):
    """The number of the last checkpoint that is whole."""
    return max((int(p.parent.name[4:]) for p in directory.glob("*/chk-*/_metadata")), default=0)
