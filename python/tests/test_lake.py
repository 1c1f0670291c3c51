"""The lake by SQL, with deadlines."""
import time

import pytest

from weir_testing import DeadlineExceeded, PaimonSql
from weir_testing.lake import _names


@pytest.fixture(scope="module")
def cluster(fluss_cluster_module):
    cluster = fluss_cluster_module(freshness="100 ms")
    lake = "WITH ('table.datalake.enabled' = 'true')"
    cluster.sql(f"CREATE DATABASE shop; CREATE TABLE orders (id INT, who STRING, amount DECIMAL(10, 2)) {lake};"
                f"CREATE TABLE shop.people (who STRING, town STRING, PRIMARY KEY (who) NOT ENFORCED) {lake}; CREATE TABLE nothing (a INT) {lake}")
    cluster.put("orders", [{"id": n, "who": "ann" if n % 2 else "bob", "amount": f"{n}.50"} for n in range(6)])
    cluster.put("shop.people", [{"who": "ann", "town": "Rye"}, {"who": "bob", "town": "O'Neill"}])
    for table in "orders", "shop.people":
        cluster.wait(table)
    return cluster


@pytest.mark.parametrize("sql,want", [
    ("SELECT count(*) FROM orders", [(6,)]),
    ("SELECT count(*) FROM fluss.orders", [(6,)]),
    ("SELECT * FROM fluss.orders WHERE id = 3", [(3, "ann", 3.5)]),
    ("SELECT who, sum(amount) FROM orders GROUP BY who ORDER BY who", [("ann", 10.5), ("bob", 7.5)]),
    ("SELECT p.town, o.id FROM orders o JOIN shop.people AS p ON o.who = p.who ORDER BY o.id LIMIT 1", [("O'Neill", 0)]),
    ("SELECT id FROM orders WHERE who IN (SELECT who FROM shop.people WHERE town = 'O''Neill') ORDER BY id DESC", [(4,), (2,), (0,)]),
    ("SELECT count(*) FROM shop.people WHERE town <> 'shop.people'", [(2,)]),
    ("SELECT count(*) FROM nothing", [(0,)]),
])
def test_a_select_is_answered(cluster, sql, want):
    got = cluster.paimon_sql.batch(sql)
    assert [tuple(float(v) if isinstance(w, float) else v for v, w in zip(row, whole)) for row, whole in zip(got, want)] == want
    assert len(got) == len(want)


def test_names_are_found_where_tables_are_named():
    tables = {("fluss", "orders"), ("a", "b")}
    assert _names("select 'a.b', x from a.b join orders on 1", tables) == ('select \'a.b\', x from "a.b" join "orders" on 1',
                                                                        {"a.b": ("a", "b"), "orders": ("fluss", "orders")})
    assert _names("SELECT orders FROM c", tables) == ("SELECT orders FROM c", {})


def test_a_table_that_is_not_there_is_an_error(cluster):
    with pytest.raises(Exception, match="nowhere"):
        cluster.paimon_sql.batch("SELECT * FROM nowhere")


def test_a_table_comes_as_arrow(cluster):
    assert cluster.paimon_sql.table("shop.people").column_names == ["who", "town"]
    assert "__bucket" in PaimonSql(cluster.warehouse, system_columns=True).table("fluss.orders").column_names


def test_until_waits_for_what_is_wanted(cluster):
    cluster.sql("CREATE TABLE later (a INT) WITH ('table.datalake.enabled' = 'true')")
    cluster.put("later", [{"a": 1}, {"a": 2}])
    assert sorted(cluster.paimon_sql.until("SELECT a FROM later", [(2,), (1,)])) == [(1,), (2,)]
    with pytest.raises(AssertionError, match=r"the lake answers .*, not \[\(3,\)\]"):
        cluster.paimon_sql.until("SELECT count(*) FROM later", [(3,)], deadline=0.5)


def test_a_read_ends_at_its_deadline(cluster, monkeypatch):
    monkeypatch.setattr(PaimonSql, "_read", lambda self, name: time.sleep(30))
    begin = time.monotonic()
    with pytest.raises(DeadlineExceeded, match="FROM orders"):
        cluster.paimon_sql.batch("SELECT count(*) FROM orders", deadline=0.2)
    with pytest.raises(DeadlineExceeded):
        cluster.paimon_sql.table("fluss.orders", deadline=0.2)
    assert time.monotonic() - begin < 5
