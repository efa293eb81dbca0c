"""The operator on a whole cluster: two simulated nodes, a scheduler that knows gangs, and time that the test moves."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "backup" / "python"))

from kit import Served  # noqa: E402
from training import API, PODS, reconcile  # noqa: E402

NAMESPACE = "default"
GATES = "GenericWorkload=true,GangScheduling=true"


class TrainingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        flags = ["--feature-gates", GATES, "--runtime-config", "scheduling.k8s.io/v1alpha2=true"]
        cls.served = Served("--nodes", "2", "--crds", str(HERE / "crds.yaml"), *flags)

    @classmethod
    def tearDownClass(cls):
        cls.served.stop()

    def setUp(self):
        self.cluster = self.served.cluster.fork()
        self.addCleanup(self.served.cluster.end_fork, self.cluster)
        self.post("queues", "team-a", {"slots": 6})

    def post(self, plural, name, spec):
        kind = plural[:-1].capitalize()
        body = {"apiVersion": "batch.example.com/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
        self.cluster.request("POST", f"{API.format(NAMESPACE)}/{plural}", body)

    def train(self, name, workers, cpu="100m"):
        self.post("trainings", name, {"queue": "team-a", "workers": workers, "image": "train:1", "cpu": cpu})
        # Trainings are admitted in the order of their times, which have seconds.
        self.settle("1s")

    def settle(self, duration="30s"):
        for _ in range(3):
            reconcile(self.cluster, NAMESPACE)
            self.cluster.advance(duration)
        reconcile(self.cluster, NAMESPACE)

    def phases(self):
        items = self.cluster.request("GET", f"{API.format(NAMESPACE)}/trainings")["items"]
        return {item["metadata"]["name"]: item["status"]["phase"] for item in items}

    def placed(self):
        """Pods on nodes, of all Pods, by training."""
        found = {}
        for pod in self.cluster.request("GET", PODS.format(NAMESPACE))["items"]:
            name = pod["spec"]["schedulingGroup"]["podGroupName"]
            placed, count = found.get(name, (0, 0))
            found[name] = (placed + ("nodeName" in pod["spec"]), count + 1)
        return found

    def test_admits_whole_trainings_in_order(self):
        self.train("first", 4)
        self.train("second", 3)
        self.train("third", 1)
        self.settle()
        # There is room for the third one, but the second was there before it.
        self.assertEqual(self.phases(), {"first": "Running", "second": "Waiting", "third": "Waiting"})
        self.assertEqual(self.placed(), {"first": (4, 4)})

    def test_gives_the_quota_of_a_training_that_ends_to_the_next(self):
        self.train("first", 4)
        self.train("second", 3)
        self.cluster.request("DELETE", f"{API.format(NAMESPACE)}/trainings/first")
        self.settle()
        self.assertEqual(self.phases(), {"second": "Running"})
        self.assertEqual(self.placed(), {"second": (3, 3)})

    def test_places_no_worker_where_not_all_have_room(self):
        nodes = self.cluster.request("GET", "/api/v1/nodes")["items"]
        cpus = int(nodes[0]["status"]["allocatable"]["cpu"])
        # One worker fills most of a node: of three, two would fit.
        self.train("large", 3, cpu=str(cpus - 1))
        self.train("small", 2)
        self.settle()
        self.assertEqual(self.phases(), {"large": "Admitted", "small": "Running"})
        self.assertEqual(self.placed(), {"large": (0, 3), "small": (2, 2)})


if __name__ == "__main__":
    unittest.main()
