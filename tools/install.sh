#!/usr/bin/env bash
# Installs the Debian (or Ubuntu) packages that building and testing need. Does nothing when all are there.
# Repositories: only the distribution's own. On Debian 12: `deb http://deb.debian.org/debian bookworm main` and, for
# LLVM 22 and chromium, which a test opens a page in, `deb http://deb.debian.org/debian-security bookworm-security main`; on
# Ubuntu: `main universe`. No third-party repository, no download outside apt.
set -euo pipefail

packages=(g++ cmake ninja-build ccache git python3 libcli11-dev nlohmann-json3-dev libgtest-dev
          libbenchmark-dev libboost-dev libtbb-dev libdnnl-dev libopenblas-dev chromium)

# The newest LLVM that the distribution has, from 22 down to 19.
for version in 22 21 20 19; do
  if dpkg -s "llvm-$version-dev" >/dev/null 2>&1 ||
     { command -v apt-cache >/dev/null && apt-cache show "llvm-$version-dev" >/dev/null 2>&1; }; then
    break
  fi
done
packages+=("llvm-$version-dev")

if ! command -v dpkg >/dev/null; then
  echo "install.sh: no dpkg here. Install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  dpkg -s "$package" 2>/dev/null | grep -q '^Status: install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install.sh: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

echo "install.sh: installing ${missing[*]}"
echo "install.sh: from the distribution's own repositories (Debian: main; Ubuntu: main universe)"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" || {
  echo "install.sh: apt could not install them. Check that 'main' (Debian) or 'main universe' (Ubuntu) is enabled" >&2
  exit 1
}
