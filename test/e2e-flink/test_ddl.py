"""Databases, tables, options and partitions by Flink's DDL."""
import pytest

from flink import FlinkError, same

LAKE = "'table.datalake.enabled'='true', 'table.datalake.freshness'='1s'"


def names(rows):
    return [r[0] for r in rows]


def refused(flink, sql, text):
    with pytest.raises(FlinkError) as e:
        flink.sql(sql)
    assert text in str(e.value)


def test_a_database_comes_and_goes(flink, db):
    flink.sql("CREATE DATABASE ddl_a WITH ('k'='v')")
    assert {"ddl_a", db, "fluss"} <= set(names(flink.sql("SHOW DATABASES")))
    refused(flink, "CREATE DATABASE ddl_a", "exists")
    flink.sql("CREATE DATABASE IF NOT EXISTS ddl_a; CREATE TABLE ddl_a.t (id INT)")
    refused(flink, "DROP DATABASE ddl_a RESTRICT", "not empty")
    flink.sql("DROP DATABASE ddl_a CASCADE; DROP DATABASE IF EXISTS ddl_a")
    assert "ddl_a" not in names(flink.sql("SHOW DATABASES"))


def test_a_table_is_shown_as_it_was_made(flink, db):
    flink.sql("""CREATE TABLE t (id BIGINT NOT NULL, name STRING COMMENT 'who', score DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
                 COMMENT 'of a test' WITH ('bucket.num'='3', 'table.log.ttl'='3 d')""")
    assert names(flink.sql("SHOW TABLES")) == ["t"]
    described = {r[0]: r[1:] for r in flink.sql("DESCRIBE t")}
    assert described["id"][:3] == ("BIGINT", False, "PRI(id)") and described["score"][:2] == ("DECIMAL(10, 2)", True)
    [(text,)] = flink.sql("SHOW CREATE TABLE t")
    for part in ("PRIMARY KEY (`id`) NOT ENFORCED", "COMMENT 'of a test'", "'bucket.num' = '3'", "'table.log.ttl' = '3 d'", "'who'"):
        assert part in text


def test_tables_are_dropped_and_made_again(flink, db):
    for n in range(3):
        flink.sql(f"CREATE TABLE t (id INT, c{n} STRING)")
        assert names(flink.sql("DESCRIBE t")) == ["id", f"c{n}"]
        refused(flink, "CREATE TABLE t (id INT)", "exists")
        flink.sql("CREATE TABLE IF NOT EXISTS t (id INT); DROP TABLE t; DROP TABLE IF EXISTS t")
    refused(flink, "DROP TABLE t", "does not exist")


def test_options_are_set_and_reset(flink, db):
    def shown():
        return flink.sql("SHOW CREATE TABLE t")[0][0]
    flink.sql("CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket.num'='1')")
    flink.sql("ALTER TABLE t SET ('table.datalake.freshness'='5s', 'client.connect-timeout'='9s')")
    assert "'table.datalake.freshness' = '5s'" in shown() and "'client.connect-timeout' = '9s'" in shown()
    flink.sql("ALTER TABLE t RESET ('table.datalake.freshness', 'client.connect-timeout')")
    assert "freshness" not in shown() and "connect-timeout" not in shown()
    refused(flink, "ALTER TABLE t SET ('table.log.format'='INDEXED')", "table.log.format")
    refused(flink, "ALTER TABLE t SET ('bucket.num'='7')", "bucket.num")


def test_the_lake_of_a_table_is_enabled_later(flink, db, tiered):
    flink.sql("CREATE TABLE t (id INT, v STRING) WITH ('bucket.num'='2'); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    flink.sql("ALTER TABLE t SET ('table.datalake.enabled'='true', 'table.datalake.freshness'='1s')")
    tiered("t", [(1, "a"), (2, "b")], "id, v")


def test_wrong_tables_are_refused_with_the_reason(flink, db):
    refused(flink, "CREATE TABLE t (id INT) WITH ('bucket.num'='0')", "bucket")
    refused(flink, "CREATE TABLE t (id INT) WITH ('table.no.such'='1')", "table.no.such")
    refused(flink, "CREATE TABLE t (id INT) WITH ('bucket.key'='other')", "other")
    refused(flink, "CREATE TABLE none.t (id INT)", "none")


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id, day) NOT ENFORCED"], ids=["log", "pk"])
def test_partitions_are_added_shown_written_and_dropped(flink, db, key):
    flink.sql(f"CREATE TABLE t (id INT NOT NULL, v STRING, `day` STRING NOT NULL{key.replace('day', '`day`')}) PARTITIONED BY (`day`) WITH ('bucket.num'='2')")
    flink.sql("ALTER TABLE t ADD PARTITION (`day`='1'); ALTER TABLE t ADD IF NOT EXISTS PARTITION (`day`='1')")
    flink.sql("ALTER TABLE t ADD PARTITION (`day`='2')")
    assert names(flink.sql("SHOW PARTITIONS t")) == ["day=1", "day=2"]
    assert names(flink.sql("SHOW PARTITIONS t PARTITION (`day`='2')")) == ["day=2"]
    rows = [(1, "a", "1"), (2, "b", "1"), (1, "c", "2")]
    flink.sql("INSERT INTO t VALUES (1, 'a', '1'), (2, 'b', '1'), (1, 'c', '2')")
    with flink.query("SELECT * FROM t") as q:
        same([r[1:] for r in q.take(3)], rows)
        q.quiet()
    with flink.query("SELECT * FROM t WHERE `day` = '2'") as q:
        same([r[1:] for r in q.take(1)], rows[2:])
        q.quiet()
    flink.sql("ALTER TABLE t DROP PARTITION (`day`='1')")
    assert names(flink.sql("SHOW PARTITIONS t")) == ["day=2"]
    with flink.query("SELECT * FROM t") as q:
        same([r[1:] for r in q.take(1)], rows[2:])
        q.quiet()


@pytest.mark.parametrize("key", ["", " PRIMARY KEY NOT ENFORCED"], ids=["log", "pk"])
def test_a_column_is_added(flink, shared, db, tiered, key):
    flink.sql(f"CREATE TABLE t (id INT{key}, v STRING) WITH ('bucket.num'='2', {LAKE}); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    tiered("t", [(1, "a"), (2, "b")], "id, v")
    flink.sql("ALTER TABLE t ADD n INT COMMENT 'later'; INSERT INTO t VALUES (3, 'c', 7)")
    assert names(flink.sql("DESCRIBE t")) == ["id", "v", "n"]
    want = [(1, "a", None), (2, "b", None), (3, "c", 7)]
    with flink.query("SELECT * FROM t") as q:
        same([r[1:] for r in q.take(3)], want)
    flink.catalog(f"anew_{db}", shared)  # Paimon's catalog in the old one keeps the lake's columns for ten minutes
    flink.sql(f"USE CATALOG anew_{db}; USE {db}")
    tiered("t", want, "id, v, n")
    same(flink.sql("SELECT * FROM t"), want)
    if key:
        flink.sql("INSERT INTO t (id, n) VALUES (1, 5)")
        assert flink.sql("SELECT * FROM t WHERE id = 1") == [(1, "a", 5)]


def test_a_table_like_another(flink, db):
    flink.sql("CREATE TABLE a (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket.num'='2'); CREATE TABLE b LIKE a")
    flink.sql("INSERT INTO a VALUES (1, 'x'), (2, 'y'); INSERT INTO b SELECT * FROM a WHERE id = 2")
    assert flink.sql("SELECT * FROM b LIMIT 5") == [(2, "y")]
