"""Clusters: start, commands, crash, what is told when something fails."""
import os
import socket

import pytest

from weir_testing import BinaryNotFound, CommandFailed, find_binary, fluss_cluster

SANITIZED = b"__asan_init" in find_binary().read_bytes()


@pytest.fixture(scope="module")
def cluster(fluss_cluster_module):
    return fluss_cluster_module(freshness="100 ms")


def test_it_starts_in_a_moment(cluster):
    seconds = cluster.start_seconds
    for _ in range(2):
        with fluss_cluster() as another:
            seconds = min(seconds, another.start_seconds)
    busy = max(1, os.getloadavg()[0] / os.cpu_count())
    assert seconds < 0.2 * busy * (5 if SANITIZED else 1)


def test_rows_are_written_read_and_proved(cluster):
    cluster.sql("CREATE TABLE t (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('table.datalake.enabled' = 'true')")
    cluster.put("t", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 1, "b": "z"}])
    assert sorted(cluster.scan("t"), key=lambda r: r["a"]) == [{"a": 1, "b": "z"}, {"a": 2, "b": "y"}]
    cluster.wait("t")
    cluster.verify("t")
    assert sorted(r["b"] for r in cluster.scan("t$lake")) == ["y", "z"]


def test_a_command_that_says_no_fails(cluster):
    with pytest.raises(CommandFailed, match="not exist"):
        cluster.put("nowhere", [{"a": 1}])


def test_two_clusters_do_not_meet(fluss_cluster, tmp_path):
    a, b = fluss_cluster(paimon_warehouse=tmp_path / "a"), fluss_cluster(paimon_warehouse=f"file://{tmp_path}/b")
    a.sql("CREATE TABLE here (x INT)")
    assert a.bootstrap != b.bootstrap and "here" in a.command("tables") and "here" not in b.command("tables")
    assert b.warehouse == tmp_path / "b" and b.warehouse.is_dir()


def test_rows_survive_a_crash(fluss_cluster):
    cluster = fluss_cluster()
    address = cluster.bootstrap
    cluster.sql("CREATE TABLE t (a INT)")
    cluster.put("t", [{"a": 7}])
    cluster.kill()
    assert not cluster.running
    cluster.start()
    assert cluster.bootstrap == address and cluster.scan("t") == [{"a": 7}]


def test_nothing_is_left_behind():
    with fluss_cluster() as cluster:
        host, port = cluster.bootstrap.split(":")
    assert not cluster.running and not cluster.directory.exists()
    with socket.socket() as s:
        assert s.connect_ex((host, int(port))) != 0


def test_a_directory_that_was_named_stays(tmp_path):
    with fluss_cluster(directory=tmp_path / "c") as cluster:
        pass
    assert cluster.log.exists() and (tmp_path / "c/data").is_dir()


def test_the_log_is_told_when_the_block_fails():
    with pytest.raises(ValueError) as e, fluss_cluster(options={"weir.trace.level": "debug"}) as cluster:
        raise ValueError("mine")
    assert f"the log of the server at {cluster.bootstrap}" in "".join(getattr(e.value, "__notes__", e.value.args))


def test_a_server_that_does_not_start_says_why():
    with pytest.raises(RuntimeError, match="no.such.option"), fluss_cluster(options={"no.such.option": 1}):
        pass


def test_the_binary_is_found_by_name_path_or_checkout(tmp_path, monkeypatch):
    named, in_path, built = tmp_path / "weir-1", tmp_path / "bin/weir", tmp_path / "checkout/build/weir"
    for path in named, in_path, built:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    (tmp_path / "checkout/deep/er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout/deep/er")
    monkeypatch.delenv("WEIR_BINARY", raising=False)
    monkeypatch.setenv("PATH", str(in_path.parent))
    assert find_binary() == in_path
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_binary() == built
    monkeypatch.setenv("WEIR_BINARY", str(named))
    assert find_binary() == named
    monkeypatch.setenv("WEIR_BINARY", str(tmp_path / "none"))
    with pytest.raises(BinaryNotFound, match="WEIR_BINARY"):
        find_binary()
