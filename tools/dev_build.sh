#!/usr/bin/env bash
# Builds build/dev (fast, -O1); one build at a time. Arguments go to ninja: tools/dev_build.sh test_core
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
exec 9>build/dev.lock
flock 9
[ -f build/dev/build.ninja ] || cmake --preset dev >build/dev_configure.log 2>&1 || { cat build/dev_configure.log; exit 1; }
status=0
ninja -C build/dev -k 0 "$@" 9>&- || status=$?
exit $status
