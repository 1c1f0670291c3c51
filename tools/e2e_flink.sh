#!/usr/bin/env bash
# e2e_flink.sh [PYTEST-ARGUMENT...]: the checks of test/e2e-flink, Flink SQL and the Java clients, unmodified, against
# build/asan/weir or WEIR_E2E_BINARY. Java and Maven come from Debian, the jars from Maven into build/flink the first time.
set -eu
cd "$(dirname "$0")/.."
here=test/e2e-flink

# jars SET POM [MAVEN-ARGUMENT...]: what the POM names, and the artifacts in $alone without what they name, in
# build/flink/SET/jars.
jars() {
    local dir=build/flink/$1/jars pom=$here/$2 artifact
    shift 2
    [ -e "$dir/.done" ] && [ ! "$pom" -nt "$dir/.done" ] && return
    echo "fetching the jars of $pom $*"
    rm -rf "$dir" && mkdir -p "$dir"
    mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$PWD/$dir" "$@"
    for artifact in ${alone:-}; do
        mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$PWD/$dir"
    done
    touch "$dir/.done"
}

# classes SET SOURCES: the Java files of that folder, compiled against the jars, in build/flink/SET/classes.
classes() {
    local dir=build/flink/$1/classes src=$here/java/$2
    [ -e "$dir/.done" ] && [ -z "$(find "$src" "build/flink/$1/jars/.done" -newer "$dir/.done")" ] && return
    rm -rf "$dir" && mkdir -p "$dir"
    javac -nowarn -d "$dir" -cp "build/flink/$1/jars/*" "$src"/*.java
    touch "$dir/.done"
}

tools/deps.sh java
tools/venv.sh
[ -n "${WEIR_E2E_BINARY:-}" ] || tools/build.sh asan
# The parent POM of Fluss's Paimon writer is not published, so that it cannot be a dependency.
alone=org.apache.fluss:fluss-lake-paimon:0.9.1-incubating jars flink flink.xml
classes flink flink
for version in 0.9.1-incubating 1.0.0; do
    jars "client-$version" client.xml -Dfluss=$version
    classes "client-$version" client
done
exec build/venv/bin/python -m pytest -c $here/pytest.ini $here "$@"
