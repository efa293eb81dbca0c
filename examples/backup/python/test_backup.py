"""The operator on a whole cluster: CronJobs run, garbage is collected, a night passes at once."""

import pathlib
import unittest

from backup import BACKUPS, CRON_JOBS, find, reconcile
from kit import Served

CRD = pathlib.Path(__file__).resolve().parent.parent / "crd.yaml"
NAMESPACE = "default"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"


class BackupTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = Served("--crds", str(CRD), "--start-at", "2030-03-01T00:00:00Z")

    @classmethod
    def tearDownClass(cls):
        cls.served.stop()

    def setUp(self):
        self.cluster = self.served.cluster.fork()
        self.addCleanup(self.served.cluster.end_fork, self.cluster)
        spec = {"schedule": "0 3 * * *", "image": "backup:1"}
        self.cluster.request("POST", BACKUPS.format(NAMESPACE), {
            "apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "nightly"}, "spec": spec,
        })

    def cron_job(self):
        return find(self.cluster, f"{CRON_JOBS.format(NAMESPACE)}/nightly")

    def test_runs_every_night(self):
        reconcile(self.cluster, NAMESPACE)
        self.cluster.advance("6h")
        jobs = self.cluster.request("GET", JOBS)["items"]
        self.assertEqual([job["status"]["startTime"] for job in jobs], ["2030-03-01T03:00:00Z"])
        self.assertEqual(jobs[0]["status"]["succeeded"], 1)

    def test_goes_with_its_backup(self):
        reconcile(self.cluster, NAMESPACE)
        self.assertIsNotNone(self.cron_job())
        self.cluster.request("DELETE", f"{BACKUPS.format(NAMESPACE)}/nightly")
        self.cluster.advance("10s")
        self.assertIsNone(self.cron_job())

    def test_follows_changes_though_others_write_too(self):
        reconcile(self.cluster, NAMESPACE)
        path = f"{BACKUPS.format(NAMESPACE)}/nightly"
        backup = self.cluster.request("GET", path)
        backup["spec"]["schedule"] = "0 4 * * *"
        self.cluster.request("PUT", path, backup)
        self.cluster.faults(7, {"name": "refuse", "status": 409, "of": "clients", "method": "PUT", "times": 3})
        reconcile(self.cluster, NAMESPACE)
        self.assertEqual(self.cron_job()["spec"]["schedule"], "0 4 * * *")


if __name__ == "__main__":
    unittest.main()
