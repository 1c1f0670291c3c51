"""The examples of the README, as they stand there, and what the fixtures do for tests that fail."""
import pathlib
import re

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.S)


def test_the_fixtures_of_the_readme_work(pytester):
    """The first example is a test, the second a conftest.py; the test runs with both kinds of clusters."""
    test, conftest = EXAMPLES[:2]
    assert len(test.strip().splitlines()) <= 11  # ten lines, and the name of the file
    pytester.makeconftest('pytest_plugins = ["weir_testing.plugin"]\n' + conftest)
    pytester.makepyfile(test, test_shared=test.replace("(fluss_cluster)", "(cluster)").replace("    cluster = fluss_cluster()\n", ""))
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_the_script_of_the_readme_works(capsys):
    exec(compile(EXAMPLES[2], "README.md", "exec"), {})
    assert capsys.readouterr().out == "[('/b',)]\n"


def test_a_failing_test_shows_the_log(pytester):
    pytester.makeconftest('pytest_plugins = ["weir_testing.plugin"]')
    pytester.makepyfile("""
        def test_mine(fluss_cluster):
            cluster = fluss_cluster()
            assert cluster.bootstrap == "elsewhere"

        def test_a_server_that_died(fluss_cluster):
            import os
            cluster = fluss_cluster()
            os.kill(cluster._process.pid, 9)
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1, passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the server ended with -9*", "*weir at 127.0.0.1:*"])
