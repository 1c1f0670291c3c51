"""CALL sys.*: every procedure that the connector has works, or is refused with the reason."""
import pytest

from flink import FlinkError, same
from harness.server import Server

PASSWORDS = {"admin": "pw-of-admin-7QX", "ann": "pw-of-ann-9ZK"}


def refused(flink, sql, text):
    with pytest.raises(FlinkError) as e:
        flink.sql(sql)
    assert text in str(e.value)


def test_what_needs_more_than_one_server_is_refused(flink, db):
    assert flink.sql("CALL sys.list_rebalance()") == []
    refused(flink, "CALL sys.list_rebalance('r1')", "one server")
    refused(flink, "CALL sys.rebalance('REPLICA_DISTRIBUTION')", "one server")
    refused(flink, "CALL sys.cancel_rebalance()", "one server")
    refused(flink, "CALL sys.add_server_tag('0', 'PERMANENT_OFFLINE')", "one server")
    refused(flink, "CALL sys.remove_server_tag('0', 'PERMANENT_OFFLINE')", "one server")
    refused(flink, "CALL sys.list_acl(resource => 'ANY')", "authorizer.enabled")
    assert flink.sql("CALL sys.drop_kv_snapshot_lease('of nobody')") == [("success",)]


def test_options_of_the_cluster_are_listed_set_and_reset(flink, shared, db):
    rows = flink.sql("CALL sys.get_cluster_configs()")
    every = {r[0]: r[1:] for r in rows}
    assert len(every) == len(rows) > 30 and every["weir.http.listen"] == ("127.0.0.1:0", "INITIAL_SERVER_CONFIG")
    before = every["weir.datalake.freshness"]
    asked = "CALL sys.get_cluster_configs('weir.datalake.freshness', 'no.such.option', 'weir.http.listen')"
    assert flink.sql(asked) == [("weir.datalake.freshness", *before), ("weir.http.listen", *every["weir.http.listen"])]
    assert len(flink.sql("CALL sys.set_cluster_configs('weir.datalake.freshness', '7 min')")) == 1
    assert flink.sql(asked)[0] == ("weir.datalake.freshness", "7 min", "DYNAMIC_SERVER_CONFIG")
    refused(flink, "CALL sys.set_cluster_configs('weir.datalake.freshness', 'soon')", "soon")
    refused(flink, "CALL sys.set_cluster_configs('no.such.option', '1')", "no.such.option")
    refused(flink, "CALL sys.set_cluster_configs('weir.datalake.freshness', '8 min', 'data.dir', '/x')", "data.dir")
    refused(flink, "CALL sys.reset_cluster_configs('no.such.option')", "no.such.option")
    assert flink.sql(asked)[0][1] == "7 min"
    flink.sql("CALL sys.reset_cluster_configs('weir.datalake.freshness')")
    assert flink.sql(asked)[0] == ("weir.datalake.freshness", *before)


@pytest.fixture
def guarded(tmp_path):
    """A server that knows users, and rights by ACLs; its catalogs by the names of the users."""
    s = Server(tmp_path, {"security.protocol.map": "FLUSS:SASL", "security.sasl.enabled.mechanisms": "PLAIN",
                          "security.sasl.plain.credentials": ",".join(f"{n}:{p}" for n, p in PASSWORDS.items()),
                          "authorizer.enabled": "true", "super.users": "User:admin"}).start()
    yield s
    s.finish()


def login(flink, server, user, password=None):
    flink.sql(f"CREATE CATALOG {user} WITH ('type'='fluss', 'bootstrap.servers'='{server.bootstrap}', "
              "'client.security.protocol'='SASL', 'client.security.sasl.mechanism'='PLAIN', "
              f"'client.security.sasl.username'='{user}', 'client.security.sasl.password'='{password or PASSWORDS[user]}')")


def test_acls(flink, guarded):
    refused_ = lambda sql, text="not authorized": refused(flink, sql, text)
    login(flink, guarded, "admin")
    login(flink, guarded, "ann")
    refused(flink, f"CREATE CATALOG eve WITH ('type'='fluss', 'bootstrap.servers'='{guarded.bootstrap}')", "")
    flink.sql("USE CATALOG admin; CREATE DATABASE a; CREATE TABLE a.t (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket.num'='1')")
    flink.sql("INSERT INTO a.t VALUES (1, 'x')")
    refused_("SELECT * FROM ann.a.t WHERE id = 1", "")
    refused_("CALL ann.sys.add_acl('cluster.a.t', 'ALLOW', 'User:ann', 'READ')", "")
    assert flink.sql("CALL sys.list_acl('ANY')") == []
    assert flink.sql("CALL sys.add_acl('cluster.a.t', 'ALLOW', 'User:ann', 'READ')") == [("success",)]
    assert flink.sql("CALL sys.add_acl('cluster.a', 'ALLOW', 'User:ann', 'DESCRIBE', '127.0.0.1')") == [("success",)]
    want = ['resource="cluster.a.t";permission="ALLOW";principal="User:ann";operation="READ";host="*"',
            'resource="cluster.a";permission="ALLOW";principal="User:ann";operation="DESCRIBE";host="127.0.0.1"']
    same(flink.sql("CALL sys.list_acl(resource => 'ANY', host => 'ANY')"), [(w,) for w in want])
    assert flink.sql("CALL sys.list_acl('cluster.a.t', 'ALLOW', 'User:ann', 'READ', '*')") == [(want[0],)]
    assert flink.sql("SELECT * FROM ann.a.t WHERE id = 1") == [(1, "x")]
    refused_("INSERT INTO ann.a.t VALUES (2, 'y')", "")
    refused_("CALL sys.add_acl('cluster.a.t', 'DENY', 'User:ann', 'READ')", "")
    assert flink.sql("CALL sys.drop_acl('cluster.a.t', 'ALLOW', 'User:ann', 'READ', 'ANY')") == [("success",)]
    same(flink.sql("CALL sys.list_acl(resource => 'ANY', host => 'ANY')"), [(want[1],)])
    refused_("SELECT * FROM ann.a.t WHERE id = 1", "")
    assert flink.sql("CALL sys.get_cluster_configs('security.sasl.plain.credentials')")[0][1] not in PASSWORDS.values()
