"""Offsets that writers leave with the server (1053 to 1055), by hand: no client of ours shows these requests."""
import time

import pytest

from harness.wire import Wire, WireError

pytestmark = pytest.mark.own
CREATED, ALREADY_EXISTS = 0, 1
INVALID_PRODUCER_ID = 63
OFFSETS = [{"table_id": 4, "bucket_offsets": [{"bucket_id": 0, "log_end_offset": 10}, {"bucket_id": 1, "log_end_offset": 0}]},
           {"table_id": 9, "bucket_offsets": [{"partition_id": 3, "bucket_id": 0, "log_end_offset": 1 << 40}]}]


def register(wire, name, offsets=OFFSETS, **more):
    return wire.call("REGISTER_PRODUCER_OFFSETS", {"producer_id": name, "table_offsets": offsets, **more})["result"]


def get(wire, name):
    return wire.call("GET_PRODUCER_OFFSETS", {"producer_id": name})


def test_the_first_registration_counts_until_it_is_deleted(shared):
    with Wire(shared.bootstrap) as w:
        before = time.time() * 1000
        assert get(w, "job-1") == {}
        assert register(w, "job-1") == CREATED
        assert register(w, "job-1", []) == ALREADY_EXISTS
        answer = get(w, "job-1")
        assert answer["producer_id"] == "job-1" and answer["table_offsets"] == OFFSETS
        assert 0 <= answer["expiration_time"] - before - 24 * 3600 * 1000 < 60000
        w.call("DELETE_PRODUCER_OFFSETS", {"producer_id": "job-1"})
        w.call("DELETE_PRODUCER_OFFSETS", {"producer_id": "job-1"})
        assert get(w, "job-1") == {}
        assert register(w, "job-1", []) == CREATED
        assert "table_offsets" not in get(w, "job-1")


def test_they_expire(shared):
    with Wire(shared.bootstrap) as w:
        assert register(w, "short", ttl_ms=300) == CREATED
        assert get(w, "short")["table_offsets"] == OFFSETS
        assert register(w, "short", ttl_ms=300) == ALREADY_EXISTS
        time.sleep(0.4)
        assert get(w, "short") == {}
        assert register(w, "short", ttl_ms=1 << 62) == CREATED
        assert get(w, "short")["table_offsets"] == OFFSETS


@pytest.mark.parametrize("name", ["", "..", "a b", "a/b", "x" * 201])
def test_ids_are_checked(shared, name):
    with Wire(shared.bootstrap) as w:
        for call in (lambda: register(w, name), lambda: get(w, name), lambda: w.call("DELETE_PRODUCER_OFFSETS", {"producer_id": name})):
            with pytest.raises(WireError) as e:
                call()
            assert e.value.code == INVALID_PRODUCER_ID


def test_they_outlive_a_kill(server):
    server.options["coordinator.producer-offsets.ttl"] = "1 h"
    server.start()
    with Wire(server.bootstrap) as w:
        assert register(w, "job") == CREATED
    server.restart()
    with Wire(server.bootstrap) as w:
        assert get(w, "job")["table_offsets"] == OFFSETS
        assert register(w, "job") == ALREADY_EXISTS
