"""Idempotent writers, by the bytes: a batch that comes twice stands in the log once, whatever was lost on the way."""
import time

import pyarrow as pa
import pytest

from harness.wire import BATCH_ROWS, BATCH_SCHEMA, Wire, log_batch, produce, table_path

TABLE = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
OUT_OF_ORDER_SEQUENCE, UNKNOWN_TABLE_OR_BUCKET = 31, 21


def writer(wire, table):
    return wire.call("INIT_WRITER", {"table_path": [table_path(table.name)]})["writer_id"]


def append(wire, table, writer_id, sequence):
    (answer,) = wire.call("PRODUCE_LOG", produce(table.id, log_batch(writer_id, sequence)))["buckets_resp"]
    return answer


async def test_writer_ids_are_never_given_twice(client, shared):
    t = await client.create(TABLE)
    with Wire(shared.bootstrap) as a, Wire(shared.bootstrap) as b:
        ids = [writer(w, t) for _ in range(50) for w in (a, b)]
    assert len(set(ids)) == 100


async def test_a_repeated_batch_is_stored_once_and_answered_alike(client, shared):
    t = await client.create(TABLE)
    with Wire(shared.bootstrap) as w:
        me = writer(w, t)
        answers = [append(w, t, me, s) for s in (0, 0, 1, 1, 0, 2)]
    assert [a.get("base_offset") for a in answers] == [0, 0, 5, 5, 0, 10]
    assert not any("error_code" in a for a in answers)
    assert await t.ends() == {0: 3 * BATCH_ROWS}


async def test_a_gap_in_the_sequence_is_refused(client, shared):
    t = await client.create(TABLE)
    with Wire(shared.bootstrap) as w:
        me = writer(w, t)
        append(w, t, me, 0)
        assert append(w, t, me, 2)["error_code"] == OUT_OF_ORDER_SEQUENCE
        assert "error_code" not in append(w, t, me, 1)
    assert await t.ends() == {0: 2 * BATCH_ROWS}


async def test_without_a_writer_id_each_batch_counts(client, shared):
    t = await client.create(TABLE)
    with Wire(shared.bootstrap) as w:
        for _ in range(3):
            assert "error_code" not in append(w, t, -1, -1)
    assert await t.ends() == {0: 3 * BATCH_ROWS}


@pytest.mark.parametrize("lost", range(5))
async def test_an_answer_lost_with_five_in_flight(client, shared, lost):
    """Five batches in flight; the connection breaks after some answers; the writer sends again from the first it has no
    answer to. Each stands in the log once, in order."""
    t = await client.create(TABLE)
    with Wire(shared.bootstrap) as w:
        me = writer(w, t)
        for s in range(5):
            w.send("PRODUCE_LOG", produce(t.id, log_batch(me, s)))
        for _ in range(lost):
            w.receive()
    with Wire(shared.bootstrap) as w:
        answers = [append(w, t, me, s) for s in range(lost, 6)]
    assert [a.get("base_offset") for a in answers] == [s * BATCH_ROWS for s in range(lost, 6)]
    assert await t.ends() == {0: 6 * BATCH_ROWS}


@pytest.mark.own
async def test_a_batch_is_known_again_after_a_crash(server, connect):
    server.start()
    client = await connect(server)
    t = await client.create(TABLE)
    with Wire(server.bootstrap) as w:
        me = writer(w, t)
        before = [append(w, t, me, s)["base_offset"] for s in range(3)]
    server.restart()
    with Wire(server.bootstrap) as w:
        assert [append(w, t, me, s).get("base_offset") for s in range(3)] == before
        assert append(w, t, me, 3)["base_offset"] == 3 * BATCH_ROWS
        assert writer(w, t) > me
    assert (await (await connect(server)).open(t.path, TABLE)).buckets == 1


@pytest.mark.own
async def test_a_replay_never_judges_what_is_in_the_log(server, connect):
    """A writer that was forgotten begins again at 0, so the log holds its numbers out of order. A start takes them as they
    are, twice, and knows the newest."""
    server.options["server.writer-id.expiration-time"] = "1 s"
    server.start()
    t = await (await connect(server)).create(TABLE)
    with Wire(server.bootstrap) as w:
        me = writer(w, t)
        assert [append(w, t, me, s).get("base_offset") for s in range(3)] == [0, 5, 10]
        time.sleep(1.1)
        assert append(w, t, me, 3)["error_code"] == OUT_OF_ORDER_SEQUENCE
        assert [append(w, t, me, s).get("base_offset") for s in range(2)] == [15, 20]
    server.options["server.writer-id.expiration-time"] = "7 d"  # a slow start would forget it once more
    for _ in range(2):
        server.restart()
        with Wire(server.bootstrap) as w:
            assert append(w, t, me, 1).get("base_offset") == 20
    with Wire(server.bootstrap) as w:
        assert append(w, t, me, 2).get("base_offset") == 25


async def test_a_bucket_that_is_not_there_is_answered_by_itself(client, shared):
    """Pain 102: an error is the bucket's, not the request's, so that a client looks for its leader and repeats the rest."""
    t = await client.create(TABLE, buckets=2)
    with Wire(shared.bootstrap) as w:
        request = produce(t.id, log_batch())
        request["buckets_req"] = [{"bucket_id": b, "records": log_batch()} for b in (0, 7, 1)]
        answers = {a["bucket_id"]: a.get("error_code") for a in w.call("PRODUCE_LOG", request)["buckets_resp"]}
    assert answers == {0: None, 7: UNKNOWN_TABLE_OR_BUCKET, 1: None}
    assert await t.ends() == {0: BATCH_ROWS, 1: BATCH_ROWS}


async def test_a_batch_for_the_dropped_table_of_a_name_is_refused(client, shared):
    """Pain 110: the id counts, not the name."""
    t = await client.create(TABLE)
    with Wire(shared.bootstrap) as w:
        me = writer(w, t)
        append(w, t, me, 0)
        descriptor = w.call("GET_TABLE_INFO", {"table_path": table_path(t.name)})["table_json"]
        w.call("DROP_TABLE", {"table_path": table_path(t.name), "ignore_if_not_exists": False})
        w.call("CREATE_TABLE", {"table_path": table_path(t.name), "table_json": descriptor, "ignore_if_exists": False})
        fresh = w.call("GET_TABLE_INFO", {"table_path": table_path(t.name)})["table_id"]
        assert fresh != t.id
        assert append(w, t, me, 1)["error_code"] == UNKNOWN_TABLE_OR_BUCKET
        (end,) = w.call("LIST_OFFSETS", {"follower_server_id": -1, "offset_type": 1, "table_id": fresh, "bucket_id": [0]})["buckets_resp"]
    assert end.get("offset", 0) == 0


async def test_a_connection_that_ends_anywhere_in_a_batch_stores_nothing(client, shared):
    """Pain 109: cut off at every byte of the frame of a write, whose first bytes the server may have read already."""
    t = await client.create(TABLE)
    with Wire(shared.bootstrap) as w:
        me = writer(w, t)
        frames = []
        w.raw = frames.append  # only to see the bytes
        w.send("PRODUCE_LOG", produce(t.id, log_batch(me, 0)))
    for size in range(len(frames[0])):
        with Wire(shared.bootstrap, hello=False) as w:
            w.raw(frames[0][:size])
    with Wire(shared.bootstrap) as w:
        assert append(w, t, me, 0).get("base_offset") == 0
    assert await t.ends() == {0: BATCH_ROWS}
