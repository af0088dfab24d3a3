"""A throw-away PostgreSQL cluster on a loopback port, run as a user who is not root."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

SUPERUSER = "test"


def binaries() -> Path | None:
    """Return the folder of initdb and postgres, None where PostgreSQL is not installed."""
    found = [Path(path).resolve().parent for path in [shutil.which("postgres")] if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in found if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


class Cluster:
    """Make and start a cluster; `dsn()` names a database and a user of it."""

    def __init__(self, folder: Path | None = None) -> None:
        """Start the server and wait until it answers; every user but the superuser needs a password."""
        place = binaries()
        assert place is not None
        self._own = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="sqlanon-cluster-"))
        self._user = {"user": "nobody"} if os.geteuid() == 0 else {}
        if self._user:
            shutil.chown(self.folder, "nobody")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        data = self.folder / "data"
        init = [place / "initdb", "-D", data, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"]
        subprocess.run(init, check=True, capture_output=True, cwd="/", **self._user)
        rules = f"host all {SUPERUSER} 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        (data / "pg_hba.conf").write_text(rules)
        options = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        options += ["-c", "fsync=off", "-c", "shared_buffers=128MB", "-c", "lc_messages=C"]
        self._server = subprocess.Popen(
            [place / "postgres", "-D", data, *options], cwd="/", stderr=subprocess.DEVNULL, **self._user
        )
        self._wait()

    def _wait(self) -> None:
        """Wait until the server says in its own file that it takes sessions: its port is open before that."""
        status = self.folder / "data" / "postmaster.pid"
        for _ in range(1200):
            lines = status.read_text().splitlines() if status.exists() else []
            if len(lines) >= 8 and lines[7].startswith("ready"):
                return
            time.sleep(0.05)
        raise TimeoutError("the cluster does not answer")

    def new_database(self, name: str, options: str = "template template0") -> str:
        """Make a database and return what to connect with as its superuser."""
        import psycopg

        with psycopg.connect(self.dsn(), autocommit=True) as con:
            con.execute(f"create database {name} {options}")
        return self.dsn(name)

    def dsn(self, database: str = "postgres", user: str = SUPERUSER, password: str = "") -> str:
        """Return what to connect with."""
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def close(self) -> None:
        """Stop the server, and forget the data."""
        self._server.send_signal(signal.SIGINT)  # do not wait for clients to leave
        self._server.wait(30)
        if self._own:
            shutil.rmtree(self.folder, ignore_errors=True)
