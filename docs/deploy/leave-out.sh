#!/bin/sh
# Remove from an environment of Python (its folder is the argument) what Moneda never runs: the tests that NumPy, SciPy and
# PyCryptodome bring along (50 MB), and the symbols of OpenDP's library that only a debugger reads (100 MB; by strip, of
# Debian's binutils, where it is there).
set -eu
find "${1:?must be the folder of an environment}/" -type d \( -name tests -o -name SelfTest \) \
  \( -path '*/site-packages/numpy/*' -o -path '*/site-packages/scipy/*' -o -path '*/site-packages/Crypto/*' \) \
  -prune -exec rm -r '{}' +
if [ "$(uname)" = Linux ] && command -v strip >/dev/null; then
  find "$1/" -name 'opendp*.so' -exec strip --strip-unneeded '{}' +
fi
