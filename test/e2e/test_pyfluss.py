"""The test suite of Fluss's Python client, unchanged, out of the source distribution of the release that we test with."""
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest

from harness.server import ROOT, Server

SUITE = ROOT / "build/pyfluss"
TESTS_MIN = 82  # of earlier releases; later ones only added to them
LISTENERS = {
    "bind.listeners": "FLUSS://127.0.0.1:0,CLIENT://127.0.0.1:0",
    "security.protocol.map": "CLIENT:SASL",
    "security.sasl.enabled.mechanisms": "PLAIN",
    "security.sasl.plain.jaas.config": "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required "
                                       'user_admin="admin-secret" user_alice="alice-secret";',
}
# A batch of the client is larger than such a segment: each gets one of its own.
SERVERS = {"default": {}, "segments_of_120_bytes": {"log.segment.file-size": "120b"}}


def start_suite(server, directory):
    env = {**os.environ, "PYTHONPATH": str(SUITE / "site"), "FLUSS_BOOTSTRAP_SERVERS": server.bootstrap,
           "FLUSS_SASL_BOOTSTRAP_SERVERS": server.listeners["CLIENT"]}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "--rootdir", SUITE,
               "-c", SUITE / "pyproject.toml", "--junitxml", directory / "result.xml", SUITE / "bindings/python/test"]
    with open(directory / "suite.log", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=env, cwd=directory)


@pytest.fixture(scope="module")
def suites(tmp_path_factory):
    """Both runs at a time: mostly they wait."""
    subprocess.run([ROOT / "tools/pyfluss_tests.sh"], check=True)
    running = {}
    for name, options in SERVERS.items():
        directory = tmp_path_factory.mktemp(name)
        server = Server(directory / "server", {**LISTENERS, **options}).start()
        running[name] = directory, server, start_suite(server, directory)
    yield running
    for _, server, process in running.values():
        process.kill()
        server.finish()


@pytest.mark.own
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SERVERS)
def test_clients_own_suite_passes(suites, name):
    directory, server, process = suites[name]
    process.wait()
    cases = {f"{c.get('classname').rsplit('.', 1)[-1]}.{c.get('name')}": [r for r in c if r.tag in ("failure", "error")]
             for c in xml.parse(directory / "result.xml").iter("testcase")}
    failed = {n: "\n".join(r.text or "" for r in results)[-2000:] for n, results in cases.items() if results}
    assert not failed, "\n".join(f"--- {n}\n{text}" for n, text in failed.items()) + server.tail()
    assert len(cases) >= TESTS_MIN
