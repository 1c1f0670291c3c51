"""Idempotent writers, by the bytes: a batch that comes twice stands in the log once, whatever was lost on the way."""
import time

import pyarrow as pa
import pytest

from harness.wire import BATCH_ROWS, BATCH_SCHEMA, Wire, log_batch, produce, table_path

TABLE = pa.schema([(n, getattr(pa, t)()) for n, t in BATCH_SCHEMA])
OUT_OF_ORDER_SEQUENCE = 31


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
    for _ in range(2):
        server.restart()
        with Wire(server.bootstrap) as w:
            assert append(w, t, me, 1).get("base_offset") == 20
    with Wire(server.bootstrap) as w:
        assert append(w, t, me, 2).get("base_offset") == 25
