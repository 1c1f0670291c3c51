"""One Flink and one server for all; databases of their own for the tests."""
import itertools
import time

import pytest

from flink import Flink, FlinkError
from harness.server import Server

_serial = itertools.count()


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server")).start()
    yield server
    server.finish()


@pytest.fixture(scope="session")
def jvm(shared, tmp_path_factory):
    """The Flink that tests share; [None] until one asks for it."""
    holder = [None]
    yield holder
    if holder[0]:
        holder[0].close()


@pytest.fixture
def flink(shared, jvm, tmp_path_factory):
    """A Flink with the catalog weir; a new one if the last test has broken it."""
    if not jvm[0] or not jvm[0].running():
        jvm[0] = Flink(tmp_path_factory.mktemp("flink") / "log")
        jvm[0].catalog("weir", shared)
    return jvm[0]


@pytest.fixture
def db(flink):
    """A database of the test's own, the current one."""
    name = f"d{next(_serial)}"
    flink.sql(f"USE CATALOG weir; CREATE DATABASE {name}; USE {name}")
    return name


@pytest.fixture
def tiered(flink):
    """tiered(table, want): waits until the lake alone gives these rows, as `table$lake` is read in batch."""
    def wait(table, want, columns="*", seconds=60):
        until, got = time.monotonic() + seconds, None
        while time.monotonic() < until:
            try:
                got = flink.sql(f"SELECT {columns} FROM `{table}$lake`")
                if sorted(map(repr, got)) == sorted(map(repr, want)):
                    return
            except FlinkError as e:  # no snapshot yet
                got = str(e)
            time.sleep(0.5)
        raise AssertionError(f"{table} in the lake after {seconds} s: {got}, expected {want}")
    return wait


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failing test shows the end of the logs."""
    report = (yield).get_result()
    if report.failed:
        for name in ("shared", "server", "flink"):
            tail = getattr(item.funcargs.get(name), "tail", None)
            if tail:
                report.sections.append((name, tail()))
