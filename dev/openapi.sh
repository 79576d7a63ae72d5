#!/bin/sh
# Writes docs/openapi.yaml into the sources, so that the server can answer with it wherever it runs. A test compares the two.
set -eu
cd "$(dirname "$0")/.."
{
    echo '/// `docs/openapi.yaml`, written here by `dev/openapi.sh`.'
    echo '// swift-format-ignore'
    echo 'let openAPIDescription = ##"""'
    cat docs/openapi.yaml
    # The literal ends before its last line break.
    echo
    echo '"""##'
} > Sources/PurchaseServer/OpenAPIDescription.swift
