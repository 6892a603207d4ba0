#!/usr/bin/env bash
# Generates the Python stubs from protos/ into the folder named (default: gen/python). Those of protos/google come with
# the package googleapis-common-protos.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-gen/python}
python=${PYTHON:-.venv/bin/python}
rm -rf "$out/palimpsest" "$out/buf"
mkdir -p "$out"
include=$("$python" -c 'import pathlib, google.api; print(pathlib.Path(google.api.__path__[0]).parents[1])')
PATH=$(dirname "$python"):$PATH "$python" -m grpc_tools.protoc \
  -I protos -I "$include" \
  --python_out="$out" --grpc_python_out="$out" --mypy_out="quiet:$out" --mypy_grpc_out="quiet:$out" \
  $(find protos/buf protos/palimpsest -name '*.proto' | LC_ALL=C sort)
# Messages-only files have no services: their empty gRPC modules would only be in the way.
find "$out" -name '*_pb2_grpc.py*' -print | while read -r file; do
  base=${file%%_pb2_grpc.py*}
  grep -q '^service ' "protos/${base#"$out"/}.proto" || rm "$file"
done
