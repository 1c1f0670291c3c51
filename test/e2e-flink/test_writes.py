"""Rows by Flink's DML, and the reads that it answers from the state alone: point queries, LIMIT, COUNT."""
import pytest

from flink import FlinkError, folded, same

USERS = "CREATE TABLE t (id BIGINT PRIMARY KEY NOT ENFORCED, name STRING, age INT) WITH ('bucket.num'='3'{})"


def point(flink, key):
    return flink.sql(f"SELECT * FROM t WHERE id = {key}")


def test_insert_update_and_delete_by_key(flink, db):
    flink.sql(USERS.format(""))
    flink.sql("INSERT INTO t VALUES (1, 'ann', 30), (2, 'bob', CAST(NULL AS INT)), (3, 'cat', 50), (1, 'ann', 31)")
    assert point(flink, 1) == [(1, "ann", 31)] and point(flink, 2) == [(2, "bob", None)] and point(flink, 9) == []
    flink.sql("UPDATE t SET name = 'bill', age = 22 WHERE id = 2; DELETE FROM t WHERE id = 3")
    assert point(flink, 2) == [(2, "bill", 22)] and point(flink, 3) == []
    flink.sql("UPDATE t SET age = 1 WHERE id = 9; DELETE FROM t WHERE id = 9")
    assert point(flink, 9) == []
    same(flink.sql("SELECT * FROM t LIMIT 10"), [(1, "ann", 31), (2, "bill", 22)])


def test_some_columns_are_written_and_the_others_stay(flink, db):
    flink.sql(USERS.format(""))
    flink.sql("INSERT INTO t VALUES (1, 'ann', 30); INSERT INTO t (id, age) VALUES (1, 31), (2, 20); INSERT INTO t (id, name) VALUES (2, 'bob')")
    same(flink.sql("SELECT * FROM t LIMIT 10"), [(1, "ann", 31), (2, "bob", 20)])
    flink.sql("DELETE FROM t WHERE id = 1")
    same(flink.sql("SELECT * FROM t LIMIT 10"), [(2, "bob", 20)])


def test_a_changelog_written_by_a_job_is_kept_by_key(flink, db):
    """An aggregation retracts and updates its rows: the sink's deletes and upserts."""
    flink.sql("CREATE TABLE src (k INT, n INT) WITH ('bucket.num'='1'); INSERT INTO src VALUES (1, 1), (2, 5), (1, 2), (3, 7), (1, 3)")
    flink.sql("CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, total INT) WITH ('bucket.num'='2')")
    with flink.query("INSERT INTO t SELECT k, SUM(n) FROM src GROUP BY k HAVING SUM(n) < 7"):
        with flink.query("SELECT * FROM t") as q:
            q.until(lambda changes: sorted(folded(changes)) == [(1, 6), (2, 5)])
            flink.sql("INSERT INTO src VALUES (1, 1), (2, 1)")
            q.until(lambda changes: sorted(folded(changes)) == [(2, 6)])


def test_limit_and_count(flink, db):
    flink.sql(USERS.format(""))
    flink.sql("CREATE TABLE log (id INT, v STRING) WITH ('bucket.num'='2')")
    values = ", ".join(f"({i}, 'n{i}', {i})" for i in range(50))
    flink.sql(f"INSERT INTO t VALUES {values}; INSERT INTO log SELECT CAST(id AS INT), name FROM (VALUES {values}) AS v (id, name, age)")
    assert flink.sql("SELECT COUNT(*) FROM t") == [(50,)] and flink.sql("SELECT COUNT(*) FROM log") == [(50,)]
    rows = flink.sql("SELECT * FROM t LIMIT 7")
    assert len(set(rows)) == 7 and all(r == (r[0], f"n{r[0]}", r[0]) for r in rows)
    rows = flink.sql("SELECT * FROM log LIMIT 7")
    assert len(set(rows)) == 7 and all(r == (r[0], f"n{r[0]}") for r in rows)
    flink.sql("DELETE FROM t WHERE id = 7")
    assert flink.sql("SELECT COUNT(*) FROM t") == [(49,)]


def test_ignored_and_disabled_deletes(flink, db):
    flink.sql(USERS.format(", 'table.delete.behavior'='ignore'"))
    flink.sql("INSERT INTO t VALUES (1, 'ann', 30); DELETE FROM t WHERE id = 1")
    assert point(flink, 1) == [(1, "ann", 30)]


@pytest.mark.parametrize("engine, kept", [("'table.merge-engine'='first_row'", (1, "a", 5)),
                                          ("'table.merge-engine'='versioned', 'table.merge-engine.versioned.ver-column'='age'", (1, "b", 9))])
def test_merge_engines(flink, db, engine, kept):
    flink.sql(USERS.format(", " + engine))
    for row in ("(1, 'a', 5)", "(1, 'b', 9)", "(1, 'c', 7)"):
        flink.sql(f"INSERT INTO t VALUES {row}")
    assert point(flink, 1) == [kept]


def test_rows_are_numbered(flink, db):
    flink.sql("CREATE TABLE t (name STRING PRIMARY KEY NOT ENFORCED, id BIGINT) WITH ('bucket.num'='1', 'auto-increment.fields'='id')")
    flink.sql("INSERT INTO t (name) VALUES ('a'), ('b'), ('a')")
    rows = flink.sql("SELECT * FROM t LIMIT 5")  # which comes first is the sink's
    assert sorted(n for n, _ in rows) == ["a", "b"] and sorted(i for _, i in rows) == [1, 2]


def test_what_goes_only_by_key_is_refused(flink, db):
    flink.sql(USERS.format("") + "; CREATE TABLE log (id INT, v STRING)")
    for sql in ("UPDATE t SET age = 1 WHERE name = 'ann'", "DELETE FROM log WHERE id = 1"):
        with pytest.raises(FlinkError):
            flink.sql(sql)
