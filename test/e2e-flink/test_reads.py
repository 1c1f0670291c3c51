"""Union reads, the lake alone, changelogs, look-up joins, in batch and streaming."""
import datetime
import time

import pytest

from flink import FlinkError, folded, same

LAKE = "'table.datalake.enabled'='true', 'table.datalake.freshness'='{}'"
ORDERS = "CREATE TABLE orders (id BIGINT PRIMARY KEY NOT ENFORCED, who STRING, amount DECIMAL(10, 2)) WITH ('bucket.num'='3', {})"
EVENTS = "CREATE TABLE events (id BIGINT, kind STRING) WITH ('bucket.num'='3', {})"
SLOW, FAST = LAKE.format("1h"), LAKE.format("1s")


def hold(flink, table):
    """From here on the lake stays as it is."""
    flink.sql(f"ALTER TABLE {table} SET ('table.datalake.freshness'='1h')")


def test_a_table_with_a_key_is_read_as_lake_and_log(flink, db, tiered):
    flink.sql(ORDERS.format(FAST) + "; INSERT INTO orders VALUES (1, 'ann', 10.50), (2, 'bob', 20.00), (3, 'cat', 30.25), (5, 'eve', CAST(NULL AS DECIMAL(10, 2)))")
    first = [(1, "ann", "10.50"), (2, "bob", "20.00"), (3, "cat", "30.25"), (5, "eve", None)]
    tiered("orders", first, "id, who, amount")
    hold(flink, "orders")
    same(flink.sql("SELECT * FROM orders"), first)
    flink.sql("UPDATE orders SET amount = 99.99 WHERE id = 2; DELETE FROM orders WHERE id = 3; INSERT INTO orders VALUES (4, 'dan', 1.00), (1, 'ann', 11.50)")
    now = [(1, "ann", "11.50"), (2, "bob", "99.99"), (4, "dan", "1.00"), (5, "eve", None)]
    same(flink.sql("SELECT * FROM orders"), now)
    same(flink.sql("SELECT who, id FROM orders WHERE amount > 5"), [("ann", 1), ("bob", 2)])
    assert flink.sql("SELECT COUNT(*), SUM(amount) FROM orders") == [(4, "112.49")]
    same(flink.sql("SELECT id, who, amount FROM `orders$lake`"), first)
    with flink.query("SELECT * FROM orders") as q:
        q.until(lambda rows: sorted(map(repr, folded(rows))) == sorted(map(repr, now)))
        flink.sql("INSERT INTO orders VALUES (6, 'fay', 6.00); DELETE FROM orders WHERE id = 1")
        q.until(lambda rows: sorted(map(repr, folded(rows))) == sorted(map(repr, now[1:] + [(6, "fay", "6.00")])))
        q.quiet()
    flink.sql("ALTER TABLE orders SET ('table.datalake.freshness'='1s')")
    tiered("orders", now[1:] + [(6, "fay", "6.00")], "id, who, amount")
    same(flink.sql("SELECT * FROM orders"), now[1:] + [(6, "fay", "6.00")])


def test_a_log_is_read_as_lake_and_log(flink, db, tiered):
    flink.sql(EVENTS.format(FAST) + "; INSERT INTO events VALUES (1, 'a'), (2, 'b'), (3, CAST(NULL AS STRING))")
    rows = [(1, "a"), (2, "b"), (3, None)]
    tiered("events", rows, "id, kind")
    hold(flink, "events")
    same(flink.sql("SELECT * FROM events"), rows)
    flink.sql("INSERT INTO events VALUES (4, 'd'), (1, 'a')")
    rows += [(4, "d"), (1, "a")]
    same(flink.sql("SELECT * FROM events"), rows)
    same(flink.sql("SELECT kind, COUNT(*) FROM events GROUP BY kind"), [("a", 2), ("b", 1), ("d", 1), (None, 1)])
    assert len(flink.sql("SELECT * FROM `events$lake`")) == 3
    with flink.query("SELECT * FROM events") as q:
        same([r[1:] for r in q.take(5)], rows)
        flink.sql("INSERT INTO events VALUES (5, 'e')")
        assert q.take(1) == [("+I", 5, "e")]
        q.quiet()


def test_a_union_read_ends_behind_a_change_without_rows(flink, db, tiered):
    """A bounded reader of 0.9.1 ends at a row with the last offset. A delete of what is not there leaves none."""
    flink.sql(ORDERS.format(FAST) + "; INSERT INTO orders VALUES (1, 'ann', 10.50)")
    tiered("orders", [(1, "ann", "10.50")], "id, who, amount")
    hold(flink, "orders")
    flink.sql("INSERT INTO orders VALUES (2, 'bob', 2.00); DELETE FROM orders WHERE id = 2; DELETE FROM orders WHERE id = 2; DELETE FROM orders WHERE id = 77")
    same(flink.sql("SELECT * FROM orders"), [(1, "ann", "10.50")])


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id, region) NOT ENFORCED"], ids=["log", "pk"])
def test_partitions_are_read_as_lake_and_log(flink, db, tiered, key):
    flink.sql(f"CREATE TABLE t (id INT NOT NULL, v STRING, region STRING NOT NULL{key}) PARTITIONED BY (region) WITH ('bucket.num'='1', {FAST})")
    flink.sql("INSERT INTO t VALUES (1, 'a', 'eu'), (2, 'b', 'eu'), (1, 'c', 'us')")  # the writer makes them
    first = [(1, "a", "eu"), (2, "b", "eu"), (1, "c", "us")]
    assert sorted(flink.sql("SHOW PARTITIONS t")) == [("region=eu",), ("region=us",)]
    tiered("t", first, "id, v, region")
    hold(flink, "t")
    flink.sql("INSERT INTO t VALUES (3, 'd', 'us'), (4, 'e', 'asia')")
    now = first + [(3, "d", "us"), (4, "e", "asia")]
    same(flink.sql("SELECT * FROM t"), now)
    same(flink.sql("SELECT v, id FROM t WHERE region = 'us'"), [("c", 1), ("d", 3)])
    with flink.query("SELECT * FROM t") as q:
        same([r[1:] for r in q.take(5)], now)
    flink.sql("ALTER TABLE t DROP PARTITION (region='eu')")
    same(flink.sql("SELECT * FROM t"), now)  # its rows are in the lake


def test_the_tables_of_the_lake_itself(flink, db, tiered):
    flink.sql(EVENTS.format(FAST) + "; INSERT INTO events VALUES (1, 'a')")
    tiered("events", [(1, "a")], "id, kind")
    [(snapshot, user)] = flink.sql("SELECT snapshot_id, commit_user FROM `events$lake$snapshots` ORDER BY snapshot_id LIMIT 1")
    assert (snapshot, user) == (1, "__fluss_lake_tiering")
    assert flink.sql("SELECT `__bucket` >= 0, `__offset`, `__timestamp` IS NOT NULL FROM `events$lake`") == [(True, 0, True)]


def test_the_changelog_of_a_table(flink, db):
    flink.sql("CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket.num'='1')")
    flink.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'); UPDATE t SET v = 'c' WHERE id = 1; DELETE FROM t WHERE id = 2")
    want = [("insert", 0, 1, "a"), ("insert", 1, 2, "b"), ("update_before", 2, 1, "a"), ("update_after", 3, 1, "c"), ("delete", 4, 2, "b")]
    with flink.query("SELECT _change_type, _log_offset, id, v FROM `t$changelog`") as q:
        assert [r[1:] for r in q.take(5)] == want
        q.quiet()
    with flink.query("SELECT _change_type, _log_offset, before.id, before.v, after.id, after.v FROM `t$binlog`") as q:
        assert [r[1:] for r in q.take(4)] == [("insert", 0, None, None, 1, "a"), ("insert", 1, None, None, 2, "b"),
                                              ("update", 2, 1, "a", 1, "c"), ("delete", 4, 2, "b", None, None)]
        q.quiet()


@pytest.mark.parametrize("partial", [False, True], ids=["whole_rows", "some_columns"])
def test_a_changelog_without_old_rows(flink, db, tiered, partial):
    """Image WAL: updates come without what was before. What a read leaves is the same, hot, in the lake and as one."""
    flink.sql(f"CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, v STRING, n INT) WITH ('bucket.num'='1', 'table.changelog.image'='wal', {FAST})")
    flink.sql("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)")
    flink.sql("INSERT INTO t (id, n) VALUES (1, 9)" if partial else "INSERT INTO t VALUES (1, 'a', 9)")
    flink.sql("DELETE FROM t WHERE id = 2; DELETE FROM t WHERE id = 77")
    want = [(1, "a", 9), (3, "c", 3)]
    same(flink.sql("SELECT * FROM t LIMIT 5"), want)
    with flink.query("SELECT _change_type, _log_offset, id, n FROM `t$changelog`") as q:
        same([r[1:] for r in q.take(5)], [("update_after", 0, 1, 1), ("update_after", 1, 2, 2), ("update_after", 2, 3, 3),
                                          ("update_after", 3, 1, 9), ("delete", 4, 2, 2)])
        q.quiet()
    with flink.query("SELECT * FROM t /*+ OPTIONS('scan.startup.mode'='earliest') */") as q:
        q.until(lambda changes: sorted(folded(changes)) == want)
    with flink.query("SELECT COUNT(*), SUM(n) FROM t") as q:
        q.until(lambda changes: changes[-1:] and changes[-1][1:] == (2, 12))
    tiered("t", want, "id, v, n")
    hold(flink, "t")
    flink.sql("INSERT INTO t VALUES (3, 'C', 4), (4, 'd', 4); DELETE FROM t WHERE id = 1")
    same(flink.sql("SELECT * FROM t"), [(3, "C", 4), (4, "d", 4)])
    with flink.query("SELECT * FROM t") as q:
        q.until(lambda changes: sorted(folded(changes)) == [(3, "C", 4), (4, "d", 4)])


@pytest.mark.parametrize("engine, kept", [("'table.merge-engine'='first_row'", (1, "a", 5)),
                                          ("'table.merge-engine'='versioned', 'table.merge-engine.versioned.ver-column'='n'", (1, "b", 9))],
                         ids=["first_row", "versioned"])
def test_merge_engines_are_read_as_lake_and_log(flink, db, tiered, engine, kept):
    flink.sql(f"CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, v STRING, n INT) WITH ('bucket.num'='2', {engine}, {FAST})")
    for row in ("(1, 'a', 5)", "(1, 'b', 9), (2, 'x', 1)", "(1, 'c', 7)"):
        flink.sql(f"INSERT INTO t VALUES {row}")
    want = [kept, (2, "x", 1)]
    tiered("t", want, "id, v, n")
    hold(flink, "t")
    flink.sql("INSERT INTO t VALUES (2, 'y', 0), (3, 'z', 3)")
    same(flink.sql("SELECT * FROM t"), want + [(3, "z", 3)])
    with flink.query("SELECT * FROM t") as q:
        q.until(lambda changes: sorted(folded(changes)) == want + [(3, "z", 3)])
        assert "first_row" not in engine or all(r[0] == "+I" for r in q.rows)
        flink.sql("INSERT INTO t VALUES (3, 'zz', 4)")
        q.until(lambda changes: sorted(folded(changes)) == want + [(3, "z", 3) if "first_row" in engine else (3, "zz", 4)])
    with pytest.raises(FlinkError):
        flink.sql("INSERT INTO t (id, v) VALUES (1, 'only')")
    with pytest.raises(FlinkError):
        flink.sql("DELETE FROM t WHERE id = 1")


def test_the_changelog_of_a_log(flink, db):
    flink.sql("CREATE TABLE t (id INT, v STRING) WITH ('bucket.num'='1'); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    with flink.query("SELECT _change_type, _log_offset, _commit_timestamp IS NOT NULL, id FROM `t$changelog`") as q:
        assert [r[1:] for r in q.take(2)] == [("insert", 0, True, 1), ("insert", 1, True, 2)]


@pytest.mark.parametrize("key", ["", " PRIMARY KEY NOT ENFORCED"], ids=["log", "pk"])
def test_startup_modes(flink, db, key):
    flink.sql(f"CREATE TABLE t (id INT{key}, v STRING) WITH ('bucket.num'='1'); INSERT INTO t VALUES (1, 'a')")
    time.sleep(1.1)
    between = datetime.datetime.now(datetime.timezone.utc)
    flink.sql("INSERT INTO t VALUES (2, 'b')")
    first = "+I" if not key else "+I"
    modes = {"'scan.startup.mode'='earliest'": [1, 2], "'scan.startup.mode'='full'": [1, 2],
             f"'scan.startup.mode'='timestamp', 'scan.startup.timestamp'='{int(between.timestamp() * 1000)}'": [2]}
    for mode, want in modes.items():
        with flink.query(f"SELECT id FROM t /*+ OPTIONS({mode}) */") as q:
            assert q.take(len(want)) == [(first, i) for i in want], mode
            q.quiet()
    with flink.query("SELECT id FROM t /*+ OPTIONS('scan.startup.mode'='latest') */") as q:
        q.quiet(3)
        flink.sql("INSERT INTO t VALUES (3, 'c')")
        assert q.take(1) == [(first, 3)]


@pytest.mark.parametrize("hint", ["'lookup.async'='true'", "'lookup.async'='false'", "'lookup.cache'='PARTIAL', 'lookup.partial-cache.max-rows'='10'"])
def test_a_look_up_join(flink, db, hint):
    flink.sql("CREATE TABLE users (id INT PRIMARY KEY NOT ENFORCED, name STRING, city STRING) WITH ('bucket.num'='3')")
    flink.sql("CREATE TABLE visits (n INT, who INT, seen AS PROCTIME()) WITH ('bucket.num'='1')")
    flink.sql("INSERT INTO users VALUES (1, 'ann', 'x'), (2, 'bob', 'y'), (3, 'cat', CAST(NULL AS STRING)); INSERT INTO visits VALUES (10, 1), (11, 3), (12, 9), (13, 1)")
    with flink.query(f"""SELECT n, name, city FROM visits LEFT JOIN users /*+ OPTIONS({hint}) */
                         FOR SYSTEM_TIME AS OF visits.seen ON visits.who = users.id""") as q:
        same([r[1:] for r in q.take(4)], [(10, "ann", "x"), (11, "cat", None), (12, None, None), (13, "ann", "x")])
        flink.sql("INSERT INTO users VALUES (9, 'new', 'z'); INSERT INTO visits VALUES (14, 9)")
        if "cache" not in hint:
            assert q.take(1) == [("+I", 14, "new", "z")]


def test_a_look_up_join_by_the_first_columns_of_a_key(flink, db):
    flink.sql("CREATE TABLE items (shop INT, sku STRING, n INT, PRIMARY KEY (shop, sku) NOT ENFORCED) WITH ('bucket.num'='3', 'bucket.key'='shop')")
    flink.sql("CREATE TABLE visits (shop INT, seen AS PROCTIME()) WITH ('bucket.num'='1')")
    flink.sql("INSERT INTO items VALUES (1, 'a', 5), (1, 'b', 6), (2, 'a', 7); INSERT INTO visits VALUES (1), (2), (3)")
    with flink.query("SELECT v.shop, i.sku, i.n FROM visits AS v LEFT JOIN items FOR SYSTEM_TIME AS OF v.seen AS i ON v.shop = i.shop") as q:
        same([r[1:] for r in q.take(4)], [(1, "a", 5), (1, "b", 6), (2, "a", 7), (3, None, None)])
        q.quiet()


def test_a_look_up_that_inserts_what_is_missing(flink, db):
    flink.sql("CREATE TABLE names (name STRING PRIMARY KEY NOT ENFORCED, id BIGINT) WITH ('bucket.num'='1', 'auto-increment.fields'='id')")
    flink.sql("CREATE TABLE visits (who STRING, seen AS PROCTIME()) WITH ('bucket.num'='1'); INSERT INTO visits VALUES ('ann'), ('bob'), ('ann')")
    with flink.query("""SELECT who, id FROM visits LEFT JOIN names /*+ OPTIONS('lookup.insert-if-not-exists'='true') */
                        FOR SYSTEM_TIME AS OF visits.seen ON visits.who = names.name""") as q:
        ids = {(r[1], r[2]) for r in q.take(3)}
        assert {who for who, _ in ids} == {"ann", "bob"} and sorted(i for _, i in ids) == [1, 2]
    assert set(flink.sql("SELECT * FROM names LIMIT 5")) == ids


TYPES = [("BOOLEAN", "TRUE", True), ("TINYINT", "-7", -7), ("SMALLINT", "300", 300), ("INT", "-70000", -70000),
         ("BIGINT", "5000000000", 5000000000), ("FLOAT", "1.5", "1.5"), ("DOUBLE", "-2.25", "-2.25"),
         ("DECIMAL(5, 2)", "123.45", "123.45"), ("DECIMAL(30, 10)", "'12345678901234567890.0123456789'", "12345678901234567890.0123456789"),
         ("CHAR(3)", "'abc'", "abc"), ("STRING", "'gr\u00fc\u00df'", "gr\u00fc\u00df"), ("BINARY(2)", "X'00ff'", "00ff"), ("BYTES", "X'010203'", "010203"),
         ("DATE", "DATE '1969-12-31'", "1969-12-31"), ("TIME(0)", "TIME '23:59:58'", "23:59:58"),
         ("TIMESTAMP(3)", "TIMESTAMP '2026-01-02 03:04:05.678'", "2026-01-02T03:04:05.678"),
         ("TIMESTAMP(6)", "TIMESTAMP '2026-01-02 03:04:05.678901'", "2026-01-02T03:04:05.678901"),
         ("TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(1700000000123, 3)", "2023-11-14T22:13:20.123Z"),
         ("ARRAY<INT>", "ARRAY[1, 2, 3]", [1, 2, 3]), ("MAP<STRING, INT>", "MAP['a', 1]", [["a", 1]]),
         ("ROW<x INT, y STRING>", "ROW(1, 'b')", [1, "b"])]


@pytest.mark.parametrize("key", [False, True], ids=["log", "pk"])
def test_every_type_by_every_way(flink, db, tiered, key):
    columns = ", ".join(f"c{i} {t}" for i, (t, _, _) in enumerate(TYPES))
    flink.sql(f"CREATE TABLE t (id INT{' PRIMARY KEY NOT ENFORCED' if key else ''}, {columns}) WITH ('bucket.num'='1', {FAST})")
    values = ", ".join(f"CAST({text} AS {t})" for t, text, _ in TYPES)
    nulls = ", ".join(f"CAST(NULL AS {t})" for t, _, _ in TYPES)
    flink.sql(f"INSERT INTO t SELECT 1, {values}; INSERT INTO t SELECT 2, {nulls}")
    want = [(1, *(v for _, _, v in TYPES)), (2, *(None for _ in TYPES))]
    with flink.query("SELECT * FROM t") as q:
        same([list(r[1:]) for r in q.take(2)], want)
    tiered("t", want, ", ".join(["id", *(f"c{i}" for i in range(len(TYPES)))]))
    same(flink.sql("SELECT * FROM t"), want)
    if key:
        same(flink.sql("SELECT * FROM t WHERE id = 1"), want[:1])
