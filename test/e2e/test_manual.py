"""Pages of the manual that were written by hand: their statements do what is said of them."""
import re
import subprocess

import pytest

from harness.client import _run
from harness.server import BINARY, ROOT
from harness.weir import YES, Weir

MANUAL = ROOT / "docs/manual"
REFUSED = re.findall(r"^\| `(.*)` \| `(E-[A-Z-]+)` \|$", (MANUAL / "fluss.md").read_text(), re.M)
STATEMENTS = [r for r in REFUSED if " " in r[0].split("=")[0]]
OPTIONS = [r for r in REFUSED if r not in STATEMENTS]
EXAMPLES = [(page.name, block) for page in sorted(MANUAL.glob("*.md")) for block in re.findall(r"^```sql\n(.*?)^```$", page.read_text(), re.M | re.S)]
pytestmark = pytest.mark.own


@pytest.fixture(scope="module")
def in_database(shared):
    """weir sql in a database of the module's own: the code it ends with, what it says."""
    weir, database = Weir(shared.bootstrap), f"manual_{_run}"
    weir.run("sql", f"CREATE DATABASE {database}; CREATE TABLE {database}.t (a INT, b INT)")

    def run(text):
        done = subprocess.run([BINARY, "sql", "--bootstrap", shared.bootstrap, f"USE {database}; {text}"], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
    yield run
    weir.run("sql", f"DROP DATABASE {database} CASCADE")


def test_its_examples_are_taken(in_database):
    assert len(EXAMPLES) >= 7
    for page, block in EXAMPLES:
        code, said = in_database(block)
        assert code == YES, (page, block, said)


def test_what_it_says_is_refused_is(in_database):
    assert len(STATEMENTS) >= 15
    for statement, code in STATEMENTS:
        ended, said = in_database(statement)
        assert ended != YES and code in said, (statement, code, said)


def test_options_that_it_says_are_refused_are(tmp_path):
    assert len(OPTIONS) >= 8
    for option, code in OPTIONS:
        done = subprocess.run([BINARY, "server", "--data-dir", str(tmp_path), "--listen", "127.0.0.1:0", "-D", "weir.http.listen=", "-D", option],
                              capture_output=True, text=True, timeout=20)
        assert done.returncode != YES and done.stderr.startswith(code), (option, code, done.stderr)
