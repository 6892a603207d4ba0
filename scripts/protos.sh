#!/usr/bin/env bash
# Generates the Python stubs from protos/ into the folder named (default: gen/python). Those of protos/google come with
# the package googleapis-common-protos.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-gen/python}
python=${PYTHON:-.venv/bin/python}
# Made beside, then moved: what is there stays as it is if the protos do not compile.
mkdir -p "$out"
draft=$(mktemp -d "$out/.draft.XXXXXX")
trap 'rm -rf "$draft"' EXIT
PATH=$(dirname "$python"):$PATH "$python" -m grpc_tools.protoc \
  -I protos \
  --python_out="$draft" --grpc_python_out="$draft" --mypy_out="quiet:$draft" --mypy_grpc_out="quiet:$draft" \
  $(find protos/buf protos/palimpsest -name '*.proto' | LC_ALL=C sort)
# Messages-only files have no services: their empty gRPC modules would only be in the way.
find "$draft" -name '*_pb2_grpc.py*' -print | while read -r file; do
  base=${file%%_pb2_grpc.py*}
  grep -q '^service ' "protos/${base#"$draft"/}.proto" || rm "$file"
done
rm -rf "$out/palimpsest" "$out/buf"
mv "$draft/palimpsest" "$draft/buf" "$out/"
