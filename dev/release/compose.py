#!/usr/bin/env python3
"""Prints a shell script that starts the services of a compose file on one machine without Docker, for dev/check-release.sh.

    dev/release/compose.py COMPOSE-FILE ROOT

The commands, the environment, the user, the mounted files and the named volumes are those of the file; the names of the services lead
to the loopback address. The image of a service with `build` is the program of the package; that of the database is the PostgreSQL of
the machine. The environment of the server is also written to ROOT/root/server.environment.
"""
import pathlib
import shlex
import sys

import yaml


def main() -> None:
    file, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    services = yaml.safe_load(file.read_text())["services"]
    lines = ["set -eu", f"echo 127.0.0.1 {' '.join(services)} >>/etc/hosts"]
    for name, service in services.items():
        if "build" not in service:
            user = service["environment"]["POSTGRES_USER"]
            # The part of the entrypoint before PostgreSQL makes the password.
            *prepare, _ = service["entrypoint"][-1].replace("$$", "$").strip().splitlines()
            lines += [
                "install -d /secret",
                *prepare,
                "umask 022",
                "systemctl start postgresql",
                "for n in $(seq 1 300); do pg_isready -q -h 127.0.0.1 && break; sleep 0.1; done",
                f"su postgres -c \"psql -qc \\\"CREATE USER {user} PASSWORD '$POSTGRES_PASSWORD'\\\" -c 'CREATE DATABASE {user} OWNER {user}'\"",
            ]
            continue
        # A folder for each volume of this service, at the path that the service knows. Only the server's state is at its own path,
        # because the two services share one machine; so the paths in the store's command are those of its volume.
        environment = dict(service.get("environment", {}))
        places = {}
        for volume in service["volumes"]:
            source, target, *_ = volume.split(":")
            if source.startswith("."):
                lines += [f"install -d -m 0755 {pathlib.PurePosixPath(target).parent}",
                          f"cat >{target} <<'FILE'\n{(file.parent / source).read_text()}FILE", f"chmod 0644 {target}"]
            else:
                place = target if name == "server" or source in ("authority", "secret") else f"/volumes/{source}"
                places[target] = place
                lines.append(f"install -d -o {service['user']} -g {service['user']} -m 0700 {place}"
                             + (f" {place}/keys" if name == "server" and source == "server" else ""))
        words = [service.get("entrypoint", "assay"), *service["command"]]
        for target, place in places.items():
            words = [word.replace(target, place) if word.startswith(target + "/") else word for word in words]
        variables = [f"{key}={value}" for key, value in environment.items()] + ["ASSAY_CONFIG=/etc/assay/assay.yaml"]
        if name == "server":
            (root / "root" / "server.environment").write_text("\n".join(variables) + "\n")
        wait = service["healthcheck"]["test"][1:] if "healthcheck" in service else []
        command = ["setpriv", "--reuid", service["user"], "--regid", service["user"], "--clear-groups", "--no-new-privs",
                   "env", "--chdir=/", *variables, *words]
        lines.append(f"{shlex.join(command)} >/var/log/{name}.log 2>&1 </dev/null &")
        if wait:
            lines.append(f"for n in $(seq 1 300); do {shlex.join(wait)} && break; sleep 0.1; done")
    lines.append("for n in $(seq 1 300); do grep -q ready /var/log/server.log && exit; sleep 0.1; done; cat /var/log/*.log >&2; exit 1")
    print("\n".join(lines))


main()
