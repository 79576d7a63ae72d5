# syntax=docker/dockerfile:1
# The program in an image of Debian, without Swift:
#
#   docker build -t assay .
#   docker run --read-only --tmpfs /tmp -v assay:/var/lib/assay -p 8080:8080 assay
#
# No Docker engine was available where this was written, so nobody has built it yet; the workflow "release" builds it.
# dev/check-release.sh compares its packages with those that the program needs, and runs the health check.
FROM swift:6.2-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends binutils git libpq-dev libsqlite3-dev pkg-config zlib1g-dev
WORKDIR /source
COPY . .
RUN dev/release.sh program

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libpq5 libsqlite3-0 libstdc++6 tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/assay --shell /usr/sbin/nologin assay \
    && install -d -o assay -g assay -m 0700 /var/lib/assay /var/lib/assay/keys /authority
COPY --from=build /source/.build-release/dist/assay /usr/bin/assay
COPY --from=build /source/.build-release/dist/third-party-licenses.txt /source/LICENSE /usr/share/doc/assay/
COPY deploy/assay.yaml /etc/assay/assay.yaml
COPY deploy/docker/health.sh /usr/lib/assay/health
USER 10001
WORKDIR /var/lib/assay
VOLUME ["/var/lib/assay", "/authority"]
# The port is published by Docker, so it listens on every address of the container.
ENV ASSAY_CONFIG=/etc/assay/assay.yaml ASSAY_HOST=0.0.0.0
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["/usr/lib/assay/health"]
ENTRYPOINT ["/usr/bin/assay"]
CMD ["serve"]
