"""What is asked of a cluster, where the cluster is one server."""
import re

import pyarrow as pa
import pytest

from harness.server import ROOT
from harness.wire import KEYS, Wire, WireError

pytestmark = pytest.mark.own

REFUSED = dict(re.findall(r'^REFUSED\((\w+), "(.*)"\)$', (ROOT / "src/api/refused.def").read_text(), re.M))
UNSUPPORTED = 2


@pytest.fixture
def wire(shared):
    with Wire(shared.bootstrap) as w:
        yield w


def error(wire, api, fields):
    with pytest.raises(WireError) as e:
        wire.call(api, fields)
    return e.value.code, str(e.value)


def test_what_is_refused_is_not_offered_and_says_why(wire):
    offered = {v["api_key"] for v in wire.call("API_VERSIONS", {"client_software_name": "e", "client_software_version": "1"})["api_versions"]}
    assert offered == {KEYS[api]["api_key"] for api in set(KEYS) - set(REFUSED)}
    for api, why in REFUSED.items():
        code, text = error(wire, api, b"")
        assert code == UNSUPPORTED and why in text, api


@pytest.mark.parametrize("api,fields,code", [
    ("ADD_SERVER_TAG", {"server_ids": [0], "server_tag": 0}, -1),
    ("ADD_SERVER_TAG", {"server_ids": [0, 7], "server_tag": 0}, 58),
    ("ADD_SERVER_TAG_BY_RACK", {"racks": ["r1"], "server_tag": 1}, 58),
    ("REMOVE_SERVER_TAG", {"server_ids": [0], "server_tag": 0}, 60),
    ("REMOVE_SERVER_TAG", {"server_ids": [7], "server_tag": 0}, 58),
    ("REMOVE_SERVER_TAG_BY_RACK", {"racks": ["r1"], "server_tag": 1}, 58),
    ("REBALANCE", {"goals": [0]}, 61),
    ("LIST_REBALANCE_PROGRESS", {"rebalance_id": "x"}, 62),
    ("CANCEL_REBALANCE", {}, 62),
])
def test_nothing_moves_where_there_is_one_server(wire, api, fields, code):
    got, text = error(wire, api, fields)
    assert got == code and "one server" in text


def test_no_rebalance_is_under_way(wire):
    assert wire.call("LIST_REBALANCE_PROGRESS", {}) == {}


# ---- options ----

CONFIG = 64
CREDENTIALS = "security.sasl.plain.credentials"


def configs(wire):
    return {c["config_key"]: (c["config_value"], c["config_source"]) for c in wire.call("DESCRIBE_CLUSTER_CONFIGS", {})["configs"]}


def alter(wire, *changes):
    """changes: (op, key[, value]); op: 0 set, 1 delete, 2 append, 3 subtract."""
    names = "op_type", "config_key", "config_value"
    return wire.call("ALTER_CLUSTER_CONFIGS", {"alter_configs": [dict(zip(names, c)) for c in changes]})


def comes_in(server, user, password):
    with Wire(server.bootstrap) as w:
        try:
            w.call("AUTHENTICATE", {"protocol": "PLAIN", "token": f"\0{user}\0{password}".encode()})
            return True
        except WireError as e:
            assert e.code == 46
            return False


def test_options_in_effect_are_told_with_where_from(shared, wire):
    got = configs(wire)
    assert got["data.dir"] == (str(shared.data), "INITIAL_SERVER_CONFIG")
    assert got["default.bucket.number"] == ("1", "INITIAL_SERVER_CONFIG")


@pytest.mark.parametrize("changes,why", [
    ([(0, "max.bucket.num", "9")], "restart"),
    ([(0, "kv.snapshot.interval", "1 min")], "looks after itself"),
    ([(0, "datalake.format", "iceberg")], "restart"),
    ([(0, "log.replica.min-in-sync-replicas-number", "2")], "one copy"),
    ([(0, "no.such.option", "1")], "no option"),
    ([(0, "weir.trace.level", "loud")], "weir.trace.level"),
    ([(0, "weir.trace.level")], "no value"),
    ([(2, "weir.trace.level", "x")], "no list"),
    ([(7, "weir.trace.level", "info")], "none of these"),
    ([(0, "weir.datalake.freshness", "3 s"), (0, "weir.trace.level", "loud")], "weir.trace.level"),
])
def test_what_cannot_be_altered_is_refused_whole(wire, changes, why):
    with pytest.raises(WireError) as e:
        alter(wire, *changes)
    assert e.value.code == CONFIG and why in str(e.value)
    assert configs(wire)["weir.datalake.freshness"][1] == "INITIAL_SERVER_CONFIG"


def test_options_are_altered_at_once_and_for_good(server):
    server.options["weir.datalake.freshness"] = "1 min"
    server.start()
    with Wire(server.bootstrap) as w:
        alter(w, (0, "weir.trace.level", "debug"), (0, "weir.datalake.freshness", "250 ms"))
        assert configs(w)["weir.trace.level"] == ("debug", "DYNAMIC_SERVER_CONFIG")
    server.restart()
    with Wire(server.bootstrap) as w:
        assert configs(w)["weir.datalake.freshness"] == ("250 ms", "DYNAMIC_SERVER_CONFIG")
        alter(w, (1, "weir.datalake.freshness"))
        assert configs(w)["weir.datalake.freshness"] == ("1 min", "INITIAL_SERVER_CONFIG")


async def test_an_altered_freshness_counts_for_tables_that_are_there(server, connect):
    server.options["weir.datalake.freshness"] = "1 h"
    server.start()
    client = await connect(server)
    schema = pa.schema([("a", pa.int32())])
    table = await client.create(schema, properties={"table.datalake.enabled": "true"})
    await table.append([{"a": 1}])
    with Wire(server.bootstrap) as w:
        alter(w, (0, "weir.datalake.freshness", "100 ms"))
    await table.lake([{"a": 1}], seconds=30)


def test_users_come_and_go_while_it_runs(server):
    server.options |= {"security.protocol.map": "FLUSS:SASL", "security.sasl.enabled.mechanisms": "PLAIN", CREDENTIALS: "root:pw-of-root"}
    server.start()
    with Wire(server.bootstrap) as w:
        w.call("AUTHENTICATE", {"protocol": "PLAIN", "token": b"\0root\0pw-of-root"})
        assert not comes_in(server, "ann", "pw-of-ann")
        alter(w, (2, CREDENTIALS, "ann:pw-of-ann"))
        assert comes_in(server, "ann", "pw-of-ann") and comes_in(server, "root", "pw-of-root")
        with pytest.raises(WireError, match="ann is there"):
            alter(w, (2, CREDENTIALS, "ann:other"))
        with pytest.raises(WireError, match="no users"):
            alter(w, (0, CREDENTIALS, ""))
        assert configs(w)[CREDENTIALS] == ("***", "DYNAMIC_SERVER_CONFIG")
    server.restart()
    assert comes_in(server, "ann", "pw-of-ann")
    with Wire(server.bootstrap) as w:
        w.call("AUTHENTICATE", {"protocol": "PLAIN", "token": b"\0ann\0pw-of-ann"})
        alter(w, (3, CREDENTIALS, "root:"))
        assert not comes_in(server, "root", "pw-of-root")
        alter(w, (1, CREDENTIALS))
        assert not comes_in(server, "ann", "pw-of-ann") and comes_in(server, "root", "pw-of-root")
        w.call("LIST_DATABASES", {})  # who is in stays in
    log = server.log.read_text()
    assert "option_altered" in log and "pw-of-" not in log
