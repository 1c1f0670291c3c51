"""Who may do what: every request of served.def without its right is refused, with it served. One server, with logins and
access lists, for all of it."""
import json
import re
import time
import urllib.request

import pytest

from harness.server import ROOT, Server
from harness.weir import USAGE, Weir
from harness.wire import Wire, WireError, decode, log_batch, produce

pytestmark = pytest.mark.own

AUTHORIZATION, SECURITY_DISABLED, AUTHENTICATE, PARTITION_NOT_EXISTS = 48, 47, 46, 36
OPERATION = {"ALL": 2, "READ": 3, "WRITE": 4, "CREATE": 5, "DROP": 6, "ALTER": 7, "DESCRIBE": 8}
CLUSTER, DATABASE, TABLE = 2, 3, 4
PASSWORDS = {"admin": "pw-of-admin-7QX", "ann": "pw-of-ann-9ZK"}
ANY = {"resource_type": 1, "operation_type": 1, "permission_type": 1}

SERVED = {row[0]: row[1:] for row in re.findall(
    r"^SERVED\((\w+), \d+, \d+, \w+, \w+, (\w+), (\w+)\)$", (ROOT / "src/api/served.def").read_text(), re.M)}


class Heard(Wire):
    """Keeps the bytes of all answers."""
    answers = []

    def receive(self):
        kind, answered, body = super().receive()
        self.answers.append(body)
        return kind, answered, body


def login(server, name):
    wire = Heard(server.bootstrap)
    wire.call("AUTHENTICATE", {"protocol": "PLAIN", "token": b"\0" + name.encode() + b"\0" + PASSWORDS[name].encode()})
    return wire


def path(table, database="guarded"):
    return {"database_name": database, "table_name": table}


def descriptor(key=False, partitioned=False, lake=False):
    columns = [{"name": n, "data_type": {"type": t, **({"nullable": False} if key and n == "a" else {})}, "id": i}
               for i, (n, t) in enumerate([("a", "INTEGER"), ("b", "STRING")])]
    schema = {"version": 1, "columns": columns, "highest_field_id": 1, **({"primary_key": ["a"]} if key else {})}
    return json.dumps({"version": 1, "schema": schema, "partition_key": ["b"] if partitioned else [], "bucket_key": ["a"] if key else [],
                       "bucket_count": 1, "properties": {"table.datalake.enabled": "true"} if lake else {}, "custom_properties": {}}).encode()


class Guarded:
    """The server, an admin who is a super user, and ann, who may do nothing yet."""

    def __init__(self, directory):
        users = ",".join(f"{n}:{p}" for n, p in PASSWORDS.items())
        self.server = Server(directory, {
            "security.protocol.map": "FLUSS:SASL", "security.sasl.enabled.mechanisms": "PLAIN", "security.sasl.plain.credentials": users,
            "authorizer.enabled": "true", "super.users": "User:admin", "weir.trace.level": "debug", "weir.datalake.freshness": "100 ms"}).start()
        self.admin, self.ann = login(self.server, "admin"), login(self.server, "ann")
        self.made = 0
        self.admin.call("CREATE_DATABASE", {"database_name": "guarded", "ignore_if_exists": False})
        self.ids = {}
        for name, form in {"log": {}, "pk": {"key": True, "lake": True}, "parts": {"partitioned": True}}.items():
            self.create(name, **form)

    def create(self, name, **form):
        self.admin.call("CREATE_TABLE", {"table_path": path(name), "table_json": descriptor(**form), "ignore_if_exists": False})
        self.ids[name] = self.admin.call("GET_TABLE_INFO", {"table_path": path(name)})["table_id"]
        return self.ids[name]

    def fresh(self):
        """A name that nobody has."""
        self.made += 1
        return f"n{self.made}"

    def doomed(self):
        """A table to drop."""
        name = self.fresh()
        self.create(name)
        return name

    def partition(self):
        name = self.fresh()
        self.admin.call("CREATE_PARTITION", {"table_path": path("parts"), "partition_spec": spec(name), "ignore_if_not_exists": False})
        return name

    def grant(self, operation, kind, name, who="ann", host="*"):
        entry = {"resource_name": name, "resource_type": kind, "principal_type": "User", "principal_name": who, "host": host,
                 "operation_type": OPERATION[operation], "permission_type": 2}
        answer = self.admin.call("CREATE_ACLS", {"acl": [entry]})["acl_res"]
        assert answer == [{"acl": entry}]

    def revoke_all(self):
        self.admin.call("DROP_ACLS", {"acl_filter": [ANY]})


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    g = Guarded(tmp_path_factory.mktemp("guarded"))
    yield g
    g.admin.socket.close()
    g.ann.socket.close()
    g.server.finish()


@pytest.fixture(autouse=True)
def _no_rights_before(request):
    if "guarded" in request.fixturenames:
        request.getfixturevalue("guarded").revoke_all()


def spec(value):
    return {"partition_key_values": [{"key": "b", "value": value}]}


def bucket(**more):
    return {"bucket_id": 0, **more}


def fetch(g, **more):
    return {"follower_server_id": -1, "max_bytes": 1000, **more, "tables_req": [
        {"table_id": g.ids["log"], "projection_pushdown_enabled": False, "buckets_req": [bucket(fetch_offset=0, max_fetch_bytes=1000)]}]}


def alter(g):
    return {"table_path": path("log"), "ignore_if_not_exists": False, "config_changes": [
        {"config_key": "owner", "config_value": "ann", "op_type": 0}]}


def acl_of_ann(g):
    return {"resource_name": "guarded.log", "resource_type": TABLE, "principal_type": "User", "principal_name": "ann", "host": "*",
            "operation_type": 3, "permission_type": 2}


def scan(g):
    return {"bucket_scan_req": {"table_id": g.ids["pk"], "bucket_id": 0}, "call_seq_id": 0, "batch_size_bytes": 1000}


def producer(g):
    """The id of one that left offsets of the log table."""
    offsets = [{"table_id": g.ids["log"], "bucket_offsets": [{"bucket_id": 0, "log_end_offset": 1}]}]
    name = g.fresh()
    g.admin.call("REGISTER_PRODUCER_OFFSETS", {"producer_id": name, "table_offsets": offsets})
    return {"producer_id": name}


def prepare(g):
    return {"bucket_offsets": [{"table_id": g.ids["pk"], "table_path": path("pk"), "bucket_offsets": [bucket(log_end_offset=0)]}]}


def in_part(answer):
    """The error codes of the parts of an answer."""
    codes = [answer["error_code"]] if "error_code" in answer else []
    for value in answer.values():
        for part in value if isinstance(value, list) else [value]:
            codes += in_part(part) if isinstance(part, dict) else []
    return codes


# How each request is made, on which resource its right is, and what refused looks like where it is not an error.
GUARDED, LOG, PK, PARTS = (DATABASE, "guarded"), (TABLE, "guarded.log"), (TABLE, "guarded.pk"), (TABLE, "guarded.parts")
WHOLE = (CLUSTER, "fluss-cluster")
REQUESTS = {
    "CREATE_DATABASE": (WHOLE, lambda g: {"database_name": g.fresh(), "ignore_if_exists": False}),
    "DROP_DATABASE": (GUARDED, lambda g: {"database_name": "guarded", "ignore_if_not_exists": False, "cascade": False}),
    "ALTER_DATABASE": (GUARDED, lambda g: {"database_name": "guarded", "ignore_if_not_exists": False,
                                           "config_changes": [{"config_key": "a", "config_value": g.fresh(), "op_type": 0}]}),
    "LIST_DATABASES": (GUARDED, lambda g: {}, lambda a: a == {}),
    "DATABASE_EXISTS": (GUARDED, lambda g: {"database_name": "guarded"}, lambda a: a == {"exists": 0}),
    "GET_DATABASE_INFO": (GUARDED, lambda g: {"database_name": "guarded"}),
    "CREATE_TABLE": (GUARDED, lambda g: {"table_path": path(g.fresh()), "table_json": descriptor(), "ignore_if_exists": False}),
    "DROP_TABLE": (GUARDED, lambda g: {"table_path": path(g.doomed()), "ignore_if_not_exists": False}),
    "ALTER_TABLE": (LOG, alter),
    "GET_TABLE_INFO": (LOG, lambda g: {"table_path": path("log")}),
    "LIST_TABLES": (LOG, lambda g: {"database_name": "guarded"}, lambda a: a == {}),
    "LIST_PARTITION_INFOS": (PARTS, lambda g: {"table_path": path("parts")}),
    "TABLE_EXISTS": (LOG, lambda g: {"table_path": path("log")}, lambda a: a == {"exists": 0}),
    "GET_TABLE_SCHEMA": (LOG, lambda g: {"table_path": path("log")}),
    "GET_METADATA": (LOG, lambda g: {"table_path": [path("log")]}, lambda a: "table_metadata" not in a),
    "PRODUCE_LOG": (LOG, lambda g: produce(g.ids["log"], log_batch())),
    "FETCH_LOG": (LOG, fetch),
    "PUT_KV": (PK, lambda g: {"acks": 1, "table_id": g.ids["pk"], "timeout_ms": 1000, "buckets_req": []}),
    "LOOKUP": (PK, lambda g: {"table_id": g.ids["pk"], "buckets_req": [bucket(keys=[b"\x01"])]}),
    "PREFIX_LOOKUP": (PK, lambda g: {"table_id": g.ids["pk"], "buckets_req": [bucket(keys=[b"\x01"])]}),
    "LIST_OFFSETS": (LOG, lambda g: {"follower_server_id": -1, "offset_type": 1, "table_id": g.ids["log"], "bucket_id": [0]}),
    "GET_LATEST_KV_SNAPSHOTS": (PK, lambda g: {"table_path": path("pk")}),
    "INIT_WRITER": (LOG, lambda g: {"table_path": [path("pk"), path("log")]}),
    "REGISTER_PRODUCER_OFFSETS": (LOG, lambda g: {"producer_id": g.fresh(), "table_offsets": [{"table_id": g.ids["log"]}]}),
    "GET_PRODUCER_OFFSETS": (LOG, producer, lambda a: "table_offsets" not in a),
    "DELETE_PRODUCER_OFFSETS": (LOG, producer),
    "GET_LAKE_SNAPSHOT": (PK, lambda g: {"table_path": path("pk")}),
    "LIMIT_SCAN": (LOG, lambda g: {"table_id": g.ids["log"], "bucket_id": 0, "limit": 1}),
    "CREATE_ACLS": ((DATABASE, "guarded"), lambda g: {"acl": [acl_of_ann(g)]}),
    "LIST_ACLS": ((DATABASE, "guarded"), lambda g: {"acl_filter": ANY}, lambda a: a == {}),
    "DROP_ACLS": ((DATABASE, "guarded"), lambda g: {"acl_filter": [{**ANY, "resource_type": TABLE}]}),
    "CREATE_PARTITION": (PARTS, lambda g: {"table_path": path("parts"), "partition_spec": spec(g.fresh()), "ignore_if_not_exists": False}),
    "DROP_PARTITION": (PARTS, lambda g: {"table_path": path("parts"), "partition_spec": spec(g.partition()), "ignore_if_not_exists": False}),
    "LAKE_TIERING_HEARTBEAT": (WHOLE, lambda g: {}),
    "PREPARE_LAKE_TABLE_SNAPSHOT": (PK, prepare),
    "COMMIT_LAKE_TABLE_SNAPSHOT": (PK, lambda g: {"tables_req": [{"table_id": g.ids["pk"], "snapshot_id": 1 << 40, "buckets_req": []}]}),
    "GET_TABLE_STATS": (LOG, lambda g: {"table_id": g.ids["log"], "buckets_req": [bucket()]}),
    "SCAN_KV": (PK, scan),
    "GET_KV_SNAPSHOT_METADATA": (PK, lambda g: {"table_id": g.ids["pk"], "bucket_id": 0, "snapshot_id": 0}),
    "ACQUIRE_KV_SNAPSHOT_LEASE": (PK, lambda g: {"lease_id": "l", "lease_duration_ms": 1000, "snapshots_to_lease": [{"table_id": g.ids["pk"]}]}),
    "RELEASE_KV_SNAPSHOT_LEASE": (PK, lambda g: {"lease_id": "l", "buckets_to_release": [{"table_id": g.ids["pk"], "bucket_id": 0}]}),
    "GET_CLUSTER_HEALTH": (WHOLE, lambda g: {}),
    "DESCRIBE_CLUSTER_CONFIGS": (WHOLE, lambda g: {}),
    "ALTER_CLUSTER_CONFIGS": (WHOLE, lambda g: {"alter_configs": [{"config_key": "weir.trace.level", "config_value": "debug", "op_type": 0}]}),
    "ADD_SERVER_TAG": (WHOLE, lambda g: {"server_ids": [0], "server_tag": 0}),
    "ADD_SERVER_TAG_BY_RACK": (WHOLE, lambda g: {"racks": ["r"], "server_tag": 0}),
    "REMOVE_SERVER_TAG": (WHOLE, lambda g: {"server_ids": [0], "server_tag": 0}),
    "REMOVE_SERVER_TAG_BY_RACK": (WHOLE, lambda g: {"racks": ["r"], "server_tag": 0}),
    "REBALANCE": (WHOLE, lambda g: {}),
    "LIST_REBALANCE_PROGRESS": (WHOLE, lambda g: {}),
    "CANCEL_REBALANCE": (WHOLE, lambda g: {}),
    "LIST_REMOTE_LOG_MANIFESTS": (LOG, lambda g: {"table_id": g.ids["log"]}),
    "LIST_KV_SNAPSHOTS": (PK, lambda g: {"table_id": g.ids["pk"]}),
}
# What may come instead of an answer when the right is there: the request is as empty as can be.
ELSE = {"DROP_DATABASE": 5, "GET_KV_SNAPSHOT_METADATA": 41, "GET_LAKE_SNAPSHOT": 53, "COMMIT_LAKE_TABLE_SNAPSHOT": 53, "ADD_SERVER_TAG": -1,
        "ADD_SERVER_TAG_BY_RACK": 58, "REMOVE_SERVER_TAG": 60, "REMOVE_SERVER_TAG_BY_RACK": 58, "REBALANCE": 61, "CANCEL_REBALANCE": 62}
FREE = {"API_VERSIONS", "AUTHENTICATE", "GET_FILESYSTEM_SECURITY_TOKEN", "DROP_KV_SNAPSHOT_LEASE"}


def test_every_request_has_its_case():
    assert {api for api, (operation, on) in SERVED.items() if on == "ANYBODY"} == FREE
    assert set(REQUESTS) == set(SERVED) - FREE


def outcome(wire, api, fields):
    """(the answer, the error codes in it or instead of it)."""
    try:
        answer = wire.call(api, fields)
        return answer, in_part(answer)
    except WireError as e:
        return None, [e.code]


def refused(api, answer, codes):
    case = REQUESTS[api]
    return case[2](answer) if len(case) > 2 and answer is not None else codes == [AUTHORIZATION]


@pytest.mark.parametrize("api", REQUESTS)
def test_without_the_right_it_is_refused(guarded, api):
    """Every other right to the same, and the right to all else, is none."""
    operation, _ = SERVED[api]
    (kind, name), make = REQUESTS[api][:2]
    if api == "DROP_ACLS":
        guarded.grant("READ", TABLE, "guarded.log", who="bob")
    assert refused(api, *outcome(guarded.ann, api, make(guarded)))
    others = {"READ", "WRITE", "CREATE", "DROP", "ALTER"} - {operation}
    for other in others if operation != "DESCRIBE" else ():
        guarded.grant(other, kind, name)
    guarded.grant("ALL", TABLE, "guarded.another")
    guarded.grant("ALL", DATABASE, "another")
    guarded.grant("ALL", *REQUESTS[api][0], who="bob")
    guarded.grant("ALL", *REQUESTS[api][0], host="10.1.2.3")
    if api != "LIST_ACLS":
        assert refused(api, *outcome(guarded.ann, api, make(guarded)))


@pytest.mark.parametrize("how", ["itself", "ALL", "the cluster"])
@pytest.mark.parametrize("api", REQUESTS)
def test_with_the_right_it_is_served(guarded, api, how):
    operation, _ = SERVED[api]
    (kind, name), make = REQUESTS[api][:2]
    if api == "DROP_ACLS":
        guarded.grant("READ", TABLE, "guarded.log", who="bob")
    guarded.grant("ALL" if how == "ALL" else operation, *((kind, name) if how != "the cluster" else WHOLE))
    answer, codes = outcome(guarded.ann, api, make(guarded))
    assert codes in ([], [ELSE.get(api)]) and not refused(api, answer, codes)


def test_lists_hold_what_may_be_seen(guarded):
    guarded.grant("READ", TABLE, "guarded.pk")
    ann = guarded.ann
    assert ann.call("LIST_TABLES", {"database_name": "guarded"}) == {"table_name": ["pk"]}
    assert ann.call("LIST_DATABASES", {}) == {}
    assert ann.call("LIST_DATABASES", {"include_summary": True}) == {}
    metadata = ann.call("GET_METADATA", {"table_path": [path("log"), path("pk")], "partitions_path": [{**path("parts"), "partition_name": "x"}]})
    assert [t["table_path"]["table_name"] for t in metadata["table_metadata"]] == ["pk"]
    assert "partition_metadata" not in metadata
    guarded.grant("DESCRIBE", DATABASE, "guarded")
    assert ann.call("LIST_DATABASES", {}) == {"database_name": ["guarded"]}
    assert [d["database_name"] for d in ann.call("LIST_DATABASES", {"include_summary": True})["database_summary"]] == ["guarded"]
    assert {"log", "pk", "parts"} <= set(ann.call("LIST_TABLES", {"database_name": "guarded"})["table_name"])
    assert ann.call("DATABASE_EXISTS", {"database_name": "fluss"}) == {"exists": 1}


def test_a_partition_of_a_hidden_table_is_none(guarded):
    name = guarded.partition()
    parts = guarded.admin.call("LIST_PARTITION_INFOS", {"table_path": path("parts")})["partitions_info"]
    number = next(p["partition_id"] for p in parts if p["partition_spec"] == spec(name))
    with pytest.raises(WireError) as e:
        guarded.ann.call("GET_METADATA", {"partitions_id": [number]})
    assert e.value.code == PARTITION_NOT_EXISTS
    guarded.grant("DESCRIBE", TABLE, "guarded.parts")
    assert guarded.ann.call("GET_METADATA", {"partitions_id": [number]})["partition_metadata"][0]["partition_id"] == number


def test_a_fetch_of_two_tables_is_answered_in_part(guarded):
    guarded.grant("READ", TABLE, "guarded.log")
    both = fetch(guarded)
    both["tables_req"].append({**both["tables_req"][0], "table_id": guarded.ids["pk"]})
    log, pk = guarded.ann.call("FETCH_LOG", both)["tables_resp"]
    assert in_part(log) == [] and in_part(pk) == [AUTHORIZATION]


def test_a_look_up_that_inserts_needs_to_write(guarded):
    asked = {"table_id": guarded.ids["pk"], "buckets_req": [bucket(keys=[b"\x01"])], "insert_if_not_exists": True, "acks": -1, "timeout_ms": 5000}
    guarded.grant("READ", TABLE, "guarded.pk")
    with pytest.raises(WireError) as e:
        guarded.ann.call("LOOKUP", asked)
    assert e.value.code == AUTHORIZATION
    guarded.grant("WRITE", TABLE, "guarded.pk")
    assert in_part(guarded.ann.call("LOOKUP", asked)) != [AUTHORIZATION]


def test_a_long_poll_hears_that_the_right_is_gone(guarded):
    table = guarded.create(guarded.fresh())
    guarded.grant("READ", DATABASE, "guarded")
    poll = {**fetch(guarded, max_wait_ms=10000, min_bytes=1)}
    poll["tables_req"][0]["table_id"] = table
    with login(guarded.server, "ann") as ann:  # one that has not read yet: it is not behind, so it waits
        ann.send("FETCH_LOG", poll)
        time.sleep(0.1)
        guarded.revoke_all()
        guarded.admin.call("PRODUCE_LOG", produce(table, log_batch()))
        _, _, body = ann.receive()
    assert in_part(decode("FetchLogResponse", body)) == [AUTHORIZATION]


def test_a_lookup_that_inserts_writes(guarded):
    ask = {"table_id": guarded.ids["pk"], "buckets_req": [], "insert_if_not_exists": True, "acks": -1, "timeout_ms": 1000}
    guarded.grant("READ", TABLE, "guarded.pk")
    assert outcome(guarded.ann, "LOOKUP", ask) == (None, [AUTHORIZATION])
    guarded.grant("WRITE", TABLE, "guarded.pk")
    assert outcome(guarded.ann, "LOOKUP", ask)[1] == []


def test_a_scan_ends_with_the_right(guarded):
    guarded.grant("READ", TABLE, "guarded.pk")
    assert in_part(guarded.ann.call("SCAN_KV", scan(guarded))) == []
    guarded.revoke_all()
    assert in_part(guarded.ann.call("SCAN_KV", scan(guarded))) == [AUTHORIZATION]


def test_lists_are_changed_by_who_has_all_on_the_database(guarded):
    guarded.grant("ALL", TABLE, "guarded.log")
    with pytest.raises(WireError) as e:
        guarded.ann.call("CREATE_ACLS", {"acl": [acl_of_ann(guarded)]})
    assert e.value.code == AUTHORIZATION
    guarded.grant("ALL", DATABASE, "guarded")
    assert in_part(guarded.ann.call("CREATE_ACLS", {"acl": [acl_of_ann(guarded)]})) == []
    wide = {**acl_of_ann(guarded), "resource_type": CLUSTER, "resource_name": "fluss-cluster"}
    with pytest.raises(WireError):
        guarded.ann.call("CREATE_ACLS", {"acl": [acl_of_ann(guarded), wide]})
    assert wide not in guarded.admin.call("LIST_ACLS", {"acl_filter": ANY})["acl"]


def test_lists_are_filtered_and_dropped_by_filter(guarded):
    for who in "ann", "bob":
        guarded.grant("READ", TABLE, "guarded.log", who=who)
    guarded.grant("WRITE", DATABASE, "guarded", who="bob")
    of_bob = {**ANY, "principal_type": "User", "principal_name": "bob"}
    acls = guarded.admin.call("LIST_ACLS", {"acl_filter": of_bob})["acl"]
    assert [(a["resource_type"], a["operation_type"]) for a in acls] == [(DATABASE, 4), (TABLE, 3)]
    dropped = guarded.admin.call("DROP_ACLS", {"acl_filter": [{**of_bob, "operation_type": 3}, of_bob]})["filter_results"]
    assert [len(d["matching_acls"]) for d in dropped] == [1, 1]
    assert [a["principal_name"] for a in guarded.admin.call("LIST_ACLS", {"acl_filter": ANY})["acl"]] == ["ann"]
    assert in_part(guarded.admin.call("DROP_ACLS", {"acl_filter": [{**ANY, "resource_type": 9}]})) == [-1]


def test_an_entry_without_effect_is_refused_by_itself(guarded):
    good = acl_of_ann(guarded)
    wrong = [{**good, "principal_type": "Role"}, {**good, "permission_type": 1}, {**good, "operation_type": 1}, {**good, "resource_name": "log"},
             {**good, "principal_type": "ann", "principal_name": "User"}]
    answer = guarded.admin.call("CREATE_ACLS", {"acl": [*wrong, good]})["acl_res"]
    assert [a.get("error_code") for a in answer] == [-1] * len(wrong) + [None]
    assert guarded.admin.call("LIST_ACLS", {"acl_filter": ANY})["acl"] == [good]


def test_rights_of_everybody_and_of_an_address(guarded):
    everybody = {**acl_of_ann(guarded), "principal_type": "*", "principal_name": "*"}
    guarded.admin.call("CREATE_ACLS", {"acl": [everybody]})
    assert in_part(guarded.ann.call("FETCH_LOG", fetch(guarded))) == []
    guarded.revoke_all()
    guarded.grant("READ", TABLE, "guarded.log", host="127.0.0.1")
    assert in_part(guarded.ann.call("FETCH_LOG", fetch(guarded))) == []


def test_rights_survive_a_kill(guarded):
    guarded.grant("READ", TABLE, "guarded.log")
    guarded.server.restart()
    guarded.admin, guarded.ann = login(guarded.server, "admin"), login(guarded.server, "ann")
    assert in_part(guarded.ann.call("FETCH_LOG", fetch(guarded))) == []
    assert refused("PRODUCE_LOG", *outcome(guarded.ann, "PRODUCE_LOG", produce(guarded.ids["log"], log_batch())))


def test_the_tiering_service_needs_no_right(guarded):
    """Nobody but admin has one, and pk gets to the lake all the same."""
    guarded.create("tiered", lake=True)
    guarded.admin.call("PRODUCE_LOG", produce(guarded.ids["tiered"], log_batch()))
    deadline = time.monotonic() + 30
    while outcome(guarded.admin, "GET_LAKE_SNAPSHOT", {"table_path": path("tiered")})[1]:
        assert time.monotonic() < deadline, guarded.server.tail()
        time.sleep(0.05)


def test_commands_log_in(guarded):
    admin = Weir(guarded.server.bootstrap, "admin", PASSWORDS["admin"])
    ann = Weir(guarded.server.bootstrap, "ann", PASSWORDS["ann"])
    admin.run("sql", "CREATE TABLE guarded.mine (a INT) WITH ('table.datalake.enabled' = 'true')")
    admin.run("put", "guarded.mine", '{"a": 1}')
    assert ann.rows("tables", "-o", "jsonl") == []
    ann.run("put", "guarded.mine", '{"a": 2}', code=USAGE)
    guarded.grant("READ", TABLE, "guarded.mine")
    assert ann.rows("scan", "guarded.mine", "--hot", "-o", "jsonl") == [{"a": 1}]
    assert ann.verify("guarded.mine")["equal"]
    ann.run("put", "guarded.mine", '{"a": 2}', code=USAGE)
    assert "E-AUTHORIZATION" in ann.errors
    for user, password in ("ann", "wrong"), (None, None), ("ann", None):
        nobody = Weir(guarded.server.bootstrap, user, password)
        nobody.run("tables", code=USAGE)
        assert "WEIR_PASSWORD" in nobody.errors


def test_who_is_not_logged_in_may_nothing(guarded):
    with Wire(guarded.server.bootstrap) as w:
        for api in SERVED:
            if api in ("API_VERSIONS", "AUTHENTICATE"):
                continue
            with pytest.raises(WireError) as e:
                w.call(api, REQUESTS[api][1](guarded) if api in REQUESTS else {})
            assert e.value.code == AUTHENTICATE, api


def test_no_password_in_trace_or_answer(guarded):
    """After all of the above, at the level debug, with wrong logins too."""
    for token in b"\0ann\0" + PASSWORDS["admin"].encode(), PASSWORDS["ann"].encode(), b"\0x\0" + PASSWORDS["ann"].encode():
        with Heard(guarded.server.bootstrap) as w, pytest.raises(WireError):
            w.call("AUTHENTICATE", {"protocol": "PLAIN", "token": token})
    guarded.admin.call("DESCRIBE_CLUSTER_CONFIGS", {})
    assert b"***" in Heard.answers[-1]
    with urllib.request.urlopen(f"http://{guarded.server.http}/metrics") as page:
        metrics = page.read().decode()
    text = guarded.server.log.read_text() + metrics + b"".join(Heard.answers).decode(errors="replace")
    assert "login_refused" in text and "denied" in text and "user=ann" in text and len(Heard.answers) > 3
    for password in PASSWORDS.values():
        assert password not in text


def test_access_lists_are_off_unless_asked_for(shared):
    with Wire(shared.bootstrap) as w:
        for api, fields in ("CREATE_ACLS", {"acl": []}), ("LIST_ACLS", {"acl_filter": ANY}), ("DROP_ACLS", {"acl_filter": []}):
            with pytest.raises(WireError) as e:
                w.call(api, fields)
            assert e.value.code == SECURITY_DISABLED


def test_nobody_is_a_user_too(server):
    """Without logins all are ANONYMOUS, who can be given rights as anybody else."""
    server.options |= {"authorizer.enabled": "true", "super.users": "User:ANONYMOUS"}
    server.start()
    with Wire(server.bootstrap) as w:
        w.call("CREATE_DATABASE", {"database_name": "d", "ignore_if_exists": False})
    server.stop()
    server.options["super.users"] = ""
    server.start()
    with Wire(server.bootstrap) as w, pytest.raises(WireError) as e:
        w.call("CREATE_DATABASE", {"database_name": "e", "ignore_if_exists": False})
    assert e.value.code == AUTHORIZATION
    assert "no_super_users" in server.log.read_text()
