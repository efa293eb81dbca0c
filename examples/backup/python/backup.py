"""An operator: a CronJob for each Backup."""

from kit import Refused

BACKUPS = "/apis/example.com/v1/namespaces/{}/backups"
CRON_JOBS = "/apis/batch/v1/namespaces/{}/cronjobs"
ATTEMPTS = 10


def wanted(backup):
    """The CronJob of a Backup."""
    metadata, spec = backup["metadata"], backup["spec"]
    owner = {
        "apiVersion": "example.com/v1",
        "kind": "Backup",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    container = {"name": "backup", "image": spec["image"]}
    job = {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    return {
        "metadata": {"name": metadata["name"], "ownerReferences": [owner]},
        "spec": {"schedule": spec["schedule"], "jobTemplate": {"spec": job}},
    }


def reconcile(cluster, namespace):
    """Makes what is missing, and changes what differs."""
    for backup in cluster.request("GET", BACKUPS.format(namespace))["items"]:
        reconcile_one(cluster, namespace, backup)


def reconcile_one(cluster, namespace, backup):
    name = backup["metadata"]["name"]
    path = f"{CRON_JOBS.format(namespace)}/{name}"
    for attempt in range(ATTEMPTS):
        try:
            cron_job = wanted(backup)
            found = find(cluster, path)
            if found is None:
                cluster.request("POST", CRON_JOBS.format(namespace), cron_job)
            elif found["spec"]["schedule"] != cron_job["spec"]["schedule"]:
                found["spec"]["schedule"] = cron_job["spec"]["schedule"]
                cluster.request("PUT", path, found)
            status = f"{BACKUPS.format(namespace)}/{name}/status"
            current = cluster.request("GET", f"{BACKUPS.format(namespace)}/{name}")
            if current.get("status", {}).get("cronJob") != name:
                cluster.request("PUT", status, {**current, "status": {"cronJob": name}})
            return
        except Refused as refused:
            # Somebody else wrote meanwhile: look again. Everything else is for the next look.
            if refused.code != 409 or attempt == ATTEMPTS - 1:
                raise


def find(cluster, path):
    try:
        return cluster.request("GET", path)
    except Refused as refused:
        if refused.code == 404:
            return None
        raise
