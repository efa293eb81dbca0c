"""The test kit of k8ts, as requests: a cluster for a test run, a fork of it for each test."""

import base64
import json
import os
import ssl
import subprocess
import urllib.error
import urllib.request


class Refused(Exception):
    """The API server refused a request."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Cluster:
    """A cluster that requests can be sent to, and whose time and faults can be set."""

    def __init__(self, connection):
        self.name = connection.get("name")
        self._server = connection["server"]
        self._token = connection["token"]
        authority = base64.b64decode(connection["certificateAuthorityData"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)

    def request(self, method, path, body=None):
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._server + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            status = json.load(error)
            raise Refused(error.code, status.get("message", "")) from None

    def fork(self):
        """A cluster with everything that this one has, for one test."""
        return Cluster(self.request("POST", "/k8ts/fork", {}))

    def end_fork(self, fork):
        self.request("DELETE", f"/k8ts/fork?name={fork.name}")

    def advance(self, duration):
        """Lets time pass: everything that falls due on the way has happened when this returns."""
        return self.request("POST", "/k8ts/clock", {"advance": duration})["now"]

    def faults(self, seed, *faults):
        self.request("POST", "/k8ts/faults", {"seed": seed, "faults": list(faults)})


class Served:
    """`k8ts serve --ephemeral`. It ends with this process, whatever becomes of it."""

    def __init__(self, *flags):
        program = os.environ.get("K8TS", "k8ts")
        # Time stands still between requests: what a test sees does not depend on how fast it runs.
        command = [program, "serve", "--ephemeral", "--stopped-clock", "--output", "json", *flags]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{program} serve ended with {self._process.wait()}")
        self.cluster = Cluster(json.loads(line))

    def stop(self):
        self._process.terminate()
        self._process.wait(timeout=30)
        self._process.stdout.close()
