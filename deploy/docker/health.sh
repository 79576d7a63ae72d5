#!/bin/bash
# The health check of the image: exit status 0 if the server answers /healthz. The image has no HTTP client, and bash can open a
# connection itself. It asks the listener for operators, which never has TLS, if the variable names its port.
port=${ASSAY_PORT:-8080}
[[ $ASSAY_ADMIN =~ :([0-9]+)$ ]] && port=${BASH_REMATCH[1]}
exec 3<>"/dev/tcp/127.0.0.1/${1:-$port}" || exit 1
printf 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
read -r -t 5 line <&3 && [[ $line == "HTTP/1.1 200"* ]]
