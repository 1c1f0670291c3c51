"""What is asked of a cluster, where the cluster is one server."""
import re

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
