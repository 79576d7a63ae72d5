"""Starts a server of the program for the Python scripts in this folder, as dev/lib.sh does for the shell scripts."""

import re
import subprocess
import tempfile


class ServerFailed(Exception):
    """The server did not start. The text contains its output."""


class RunningServer:
    """A program that prints its address on a line of its own when it is ready."""

    def __init__(self, arguments, folder):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.ready = self.process.stdout.readline().strip()
        found = re.search(r"(http://[^/ ]+:(\d+))", self.ready)
        if not found:
            self.stop()
            self.errors.seek(0)
            raise ServerFailed(f"{arguments[1]} did not start: {self.ready} {self.errors.read()}")
        self.address = found.group(1)
        self.port = int(found.group(2))

    def stop(self, at_once=False):
        """Ends it, and returns its exit status. Kills it at once if it may be too busy to stop."""
        if at_once:
            self.process.kill()
        else:
            self.process.terminate()
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
