"""Partitioned tables: read as lake and log, made by the sink and by time, with changelogs, look-ups and added columns."""
import datetime
import time

import pytest

from flink import FlinkError, folded, same

FAST = "'table.datalake.enabled'='true', 'table.datalake.freshness'='1s'"
VISITS = "CREATE TABLE t (id INT NOT NULL, v STRING, region STRING NOT NULL, `day` STRING NOT NULL{}) PARTITIONED BY (region, `day`) WITH ({})"
BOTH = pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id, region, `day`) NOT ENFORCED"], ids=["log", "pk"])


def visits(key, options=FAST):
    """One bucket for a log: where one of a partition that is not in the lake yet is empty, a bounded read of the connector
    never ends, whatever the server."""
    return VISITS.format(key, f"'bucket.num'='{2 if key else 1}', {options}")


def values(rows):
    return ", ".join(f"({', '.join('NULL' if x is None else repr(x) for x in r)})" for r in rows)


def partitions(flink):
    return sorted(r[0] for r in flink.sql("SHOW PARTITIONS t"))


@BOTH
def test_partitions_of_two_columns_are_pruned_hot_and_in_the_lake(flink, db, tiered, key):
    flink.sql(visits(key))
    first = [(1, "a", "eu", "1"), (2, "b", "eu", "2"), (1, "c", "us", "1"), (2, "d", "us", "3")]
    flink.sql(f"INSERT INTO t VALUES {values(first)}")
    assert partitions(flink) == ["region=eu/day=1", "region=eu/day=2", "region=us/day=1", "region=us/day=3"]
    assert sorted(flink.sql("SHOW PARTITIONS t PARTITION (region='eu')")) == [("region=eu/day=1",), ("region=eu/day=2",)]
    tiered("t", first, "id, v, region, `day`")
    flink.sql("ALTER TABLE t SET ('table.datalake.freshness'='1h')")
    lake = lambda where: flink.sql(f"SELECT id, v, region, `day` FROM `t$lake` WHERE {where}")
    same(lake("region = 'eu'"), first[:2])
    same(lake("region = 'us' AND `day` > '1'"), first[3:])
    more = [(3, "e", "eu", "1"), (4, "f", "asia", "1")]
    flink.sql(f"INSERT INTO t VALUES {values(more)}")
    now = first + more
    if key:
        flink.sql("INSERT INTO t VALUES (2, 'B', 'eu', '2'); DELETE FROM t WHERE id = 1 AND region = 'us' AND `day` = '1'")
        now = [r for r in now if r not in (first[1], first[2])] + [(2, "B", "eu", "2")]
    same(flink.sql("SELECT * FROM t"), now)
    same(flink.sql("SELECT * FROM t WHERE region = 'asia'"), [r for r in now if r[2] == "asia"])
    same(flink.sql("SELECT id, v FROM t WHERE region = 'eu' AND `day` > '1'"), [r[:2] for r in now if r[2] == "eu" and r[3] > "1"])
    with flink.query("SELECT * FROM t WHERE region = 'eu'") as q:
        eu = sorted(r for r in now if r[2] == "eu")
        q.until(lambda rows: sorted(folded(rows, 4 if not key else 1)) == eu)
        flink.sql("INSERT INTO t VALUES (9, 'g', 'eu', '1'), (9, 'h', 'us', '1')")
        q.until(lambda rows: sorted(folded(rows, 4 if not key else 1)) == sorted(eu + [(9, "g", "eu", "1")]))
        q.quiet()


@BOTH
def test_the_sink_makes_partitions_and_a_running_read_finds_them(flink, db, tiered, key):
    flink.sql(visits(key) + "; CREATE TABLE src (id INT, region STRING, `day` STRING) WITH ('bucket.num'='1')")
    with flink.query("INSERT INTO t SELECT id, CAST(id AS STRING), region, `day` FROM src"):
        with flink.query("SELECT * FROM t /*+ OPTIONS('scan.partition.discovery.interval'='500ms') */") as q:
            for n, region in enumerate(("eu", "us", "asia")):
                flink.sql(f"INSERT INTO src VALUES ({n}, '{region}', '{n}')")
                assert q.take(1) == [("+I", n, str(n), region, str(n))]
            q.quiet()
    assert partitions(flink) == ["region=asia/day=2", "region=eu/day=0", "region=us/day=1"]
    tiered("t", [(n, str(n), r, str(n)) for n, r in enumerate(("eu", "us", "asia"))], "id, v, region, `day`")
    with pytest.raises(FlinkError) as e:
        flink.sql("INSERT INTO t VALUES (5, 'x', 'a/b', '1')")
    assert "a/b" in str(e.value)
    with pytest.raises(FlinkError):
        flink.sql("INSERT INTO t /*+ OPTIONS('client.writer.dynamic-create-partition.enabled'='false') */ VALUES (5, 'x', 'none', '1')")
    assert len(partitions(flink)) == 3


@BOTH
def test_partitions_by_time(flink, db, tiered, key):
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [(today + datetime.timedelta(n)).strftime("%Y%m%d") for n in range(-3, 3)]
    flink.sql(f"CREATE TABLE t (id INT NOT NULL, v STRING, `day` STRING NOT NULL{key.replace(', region', '')}) PARTITIONED BY (`day`) WITH ("
              f"'bucket.num'='1', 'table.auto-partition.enabled'='true', 'table.auto-partition.time-unit'='DAY', 'table.auto-partition.num-precreate'='2', "
              f"'table.auto-partition.num-retention'='2', 'table.auto-partition.time-zone'='UTC', {FAST})")
    end = time.monotonic() + 20
    while partitions(flink) != [f"day={d}" for d in days[3:5]]:
        assert time.monotonic() < end, partitions(flink)
        time.sleep(0.2)
    rows = [(1, "a", days[3]), (2, "b", days[4]), (3, "c", days[2])]  # of yesterday too: the sink makes its partition
    flink.sql(f"INSERT INTO t VALUES {values(rows)}")
    assert partitions(flink) == [f"day={d}" for d in days[2:5]]
    tiered("t", rows, "id, v, `day`")
    same(flink.sql("SELECT * FROM t"), rows)
    same(flink.sql(f"SELECT id FROM t WHERE `day` >= '{days[3]}'"), [(1,), (2,)])
    with pytest.raises(FlinkError):
        flink.sql("INSERT INTO t VALUES (4, 'd', 'someday')")
    flink.sql("ALTER TABLE t SET ('table.auto-partition.num-retention'='5')")
    assert "'table.auto-partition.num-retention' = '5'" in flink.sql("SHOW CREATE TABLE t")[0][0]


TYPES = [("BOOLEAN", "TRUE", "true"), ("TINYINT", "-7", "-7"), ("INT", "70000", "70000"), ("BIGINT", "-5000000000", "-5000000000"), ("CHAR(3)", "'abc'", "abc"),
         ("DATE", "DATE '2026-01-02'", "2026-01-02"), ("TIME(0)", "TIME '23:59:58'", None), ("TIMESTAMP(3)", "TIMESTAMP '2026-01-02 03:04:05.678'", None),
         ("DOUBLE", "-2.25", None), ("FLOAT", "1.5", None), ("BINARY(2)", "X'00ff'", "00ff")]


@pytest.mark.parametrize("kind, text, name", TYPES, ids=[t for t, _, _ in TYPES])
def test_every_type_may_part(flink, db, kind, text, name):
    flink.sql(f"CREATE TABLE t (id INT NOT NULL, p {kind} NOT NULL, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket.num'='1')")
    flink.sql(f"INSERT INTO t VALUES (1, CAST({text} AS {kind})), (2, CAST({text} AS {kind}))")
    [shown] = partitions(flink)
    assert name is None or shown == f"p={name}"
    with flink.query("SELECT id FROM t") as q:
        same(q.take(2), [("+I", 1), ("+I", 2)])
        q.quiet()


def test_changelogs_of_partitions(flink, db):
    flink.sql(visits(", PRIMARY KEY (id, region, `day`) NOT ENFORCED", "'table.log.ttl'='7 d'"))
    with flink.query("SELECT _change_type, _log_offset, id, v, region FROM `t$changelog`") as changes, \
            flink.query("SELECT _change_type, before.v, after.v, after.region FROM `t$binlog`") as binlog:
        flink.sql("INSERT INTO t VALUES (1, 'a', 'eu', '1'); INSERT INTO t VALUES (1, 'b', 'eu', '1'), (1, 'c', 'us', '1')")
        flink.sql("DELETE FROM t WHERE id = 1 AND region = 'eu' AND `day` = '1'")
        got = [r[1:] for r in changes.take(5)]
        same(got, [("insert", 0, 1, "a", "eu"), ("update_before", 1, 1, "a", "eu"), ("update_after", 2, 1, "b", "eu"),
                   ("delete", 3, 1, "b", "eu"), ("insert", 0, 1, "c", "us")])
        same([r[1:] for r in binlog.take(4)], [("insert", None, "a", "eu"), ("update", "a", "b", "eu"), ("insert", None, "c", "us"),
                                               ("delete", "b", None, None)])
        changes.quiet()
        binlog.quiet()
    flink.sql("DROP TABLE t; " + visits("", "'table.log.ttl'='7 d'") + "; INSERT INTO t VALUES (1, 'a', 'eu', '1'), (2, 'b', 'us', '1')")
    with flink.query("SELECT _change_type, _log_offset, id, region FROM `t$changelog`") as q:
        same([r[1:] for r in q.take(2)], [("insert", 0, 1, "eu"), ("insert", 0, 2, "us")])
        q.quiet()


def test_look_ups_in_partitions(flink, db):
    flink.sql("CREATE TABLE t (shop INT NOT NULL, sku STRING NOT NULL, n INT, `day` STRING NOT NULL, PRIMARY KEY (shop, sku, `day`) NOT ENFORCED) "
              "PARTITIONED BY (`day`) WITH ('bucket.num'='2', 'bucket.key'='shop')")
    flink.sql("INSERT INTO t VALUES (1, 'a', 5, '1'), (1, 'b', 6, '1'), (1, 'a', 7, '2')")
    flink.sql("CREATE TABLE asked (shop INT, sku STRING, `day` STRING, seen AS PROCTIME()) WITH ('bucket.num'='1')")
    flink.sql("INSERT INTO asked VALUES (1, 'a', '1'), (1, 'a', '2'), (1, 'b', '2'), (1, 'a', 'none')")
    join = "SELECT a.shop, a.`day`, t.sku, t.n FROM asked AS a LEFT JOIN t FOR SYSTEM_TIME AS OF a.seen ON a.shop = t.shop AND a.`day` = t.`day`"
    with flink.query(join + " AND a.sku = t.sku") as q:
        same([r[1:] for r in q.take(4)], [(1, "1", "a", 5), (1, "2", "a", 7), (1, "2", None, None), (1, "none", None, None)])
        q.quiet()
    with flink.query(join) as q:
        same([r[1:] for r in q.take(5)], [(1, "1", "a", 5), (1, "1", "b", 6), (1, "2", "a", 7), (1, "2", "a", 7), (1, "none", None, None)])
        q.quiet()
    assert flink.sql("SELECT n FROM t WHERE shop = 1 AND sku = 'b' AND `day` = '1'") == [(6,)]


@BOTH
def test_a_column_is_added_to_partitions(flink, shared, db, tiered, key):
    flink.sql(visits(key) + "; INSERT INTO t VALUES (1, 'a', 'eu', '1'), (2, 'b', 'us', '1')")
    tiered("t", [(1, "a", "eu", "1"), (2, "b", "us", "1")], "id, v, region, `day`")
    flink.sql("ALTER TABLE t ADD (n INT, m STRING); INSERT INTO t VALUES (3, 'c', 'eu', '1', 7, 'x'), (4, 'd', 'asia', '2', 8, 'y')")
    want = [(1, "a", "eu", "1", None, None), (2, "b", "us", "1", None, None), (3, "c", "eu", "1", 7, "x"), (4, "d", "asia", "2", 8, "y")]
    with flink.query("SELECT * FROM t") as q:
        same([r[1:] for r in q.take(4)], want)
    flink.catalog(f"anew_{db}", shared)  # Paimon's catalog in the old one keeps the lake's columns for ten minutes
    flink.sql(f"USE CATALOG anew_{db}; USE {db}")
    tiered("t", want, "id, v, region, `day`, n, m")
    same(flink.sql("SELECT * FROM t"), want)
    same(flink.sql("SELECT id, m FROM t WHERE n > 7 AND region = 'asia'"), [(4, "y")])
