"""The fixtures. Installed with the package they are there by themselves; else `pytest_plugins = ["weir_testing.plugin"]`.

    def test_mine(fluss_cluster):
        cluster = fluss_cluster(paimon_warehouse="/tmp/lake")

fluss_cluster           makes clusters for one test
fluss_cluster_module    for the tests of a file
fluss_cluster_session   for all tests: what is made there should be made once, in a fixture of yours

Each is a function with the arguments of weir_testing.fluss_cluster; all clusters are stopped when the scope ends, and a
server that died fails the test. A failing test shows the end of the log of each cluster that it could have used."""
import contextlib

import pytest

from .cluster import fluss_cluster as make_cluster

_CLUSTERS = pytest.StashKey()


def _factory(request, tmp_path_factory):
    running = request.config.stash.setdefault(_CLUSTERS, [])
    with contextlib.ExitStack() as stack:
        def make(paimon_warehouse=None, directory=None, **more):
            where = directory or tmp_path_factory.mktemp("weir")
            cluster = stack.enter_context(make_cluster(paimon_warehouse=paimon_warehouse, directory=where, **more))
            running.append(cluster)
            stack.callback(running.remove, cluster)
            return cluster
        yield make


def _fixture(scope, name):
    @pytest.fixture(scope=scope, name=name)
    def factory(request, tmp_path_factory):
        yield from _factory(request, tmp_path_factory)
    return factory


fluss_cluster = _fixture("function", "fluss_cluster")
fluss_cluster_module = _fixture("module", "fluss_cluster_module")
fluss_cluster_session = _fixture("session", "fluss_cluster_session")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        for cluster in item.config.stash.get(_CLUSTERS, []):
            report.sections.append((f"weir at {cluster.bootstrap}", cluster.tail()))
