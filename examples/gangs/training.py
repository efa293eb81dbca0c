"""An operator: queues with a quota, and trainings whose workers run all together or not at all."""

API = "/apis/batch.example.com/v1/namespaces/{}"
GROUPS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/{}/podgroups"
PODS = "/api/v1/namespaces/{}/pods"
NAME = "batch.example.com/training"


def admitted(trainings, slots):
    """The trainings that their queues have room for: the older ones first, each whole, and none past one that waits."""
    left, closed, found = dict(slots), set(), []
    for training in sorted(trainings, key=age):
        queue, workers = training["spec"]["queue"], training["spec"]["workers"]
        runs = training.get("status", {}).get("phase") in ("Admitted", "Running")
        if not runs and (queue in closed or workers > left.get(queue, 0)):
            closed.add(queue)
            continue
        left[queue] = left.get(queue, 0) - workers
        found.append(training)
    return found


def age(training):
    """What runs already stays admitted, whatever came before it."""
    runs = training.get("status", {}).get("phase") in ("Admitted", "Running")
    return (not runs, training["metadata"]["creationTimestamp"], training["metadata"]["name"])


def owned(training, name, labels=None):
    metadata = training["metadata"]
    owner = {"apiVersion": "batch.example.com/v1", "kind": "Training", "controller": True}
    owner |= {"name": metadata["name"], "uid": metadata["uid"]}
    return {"name": name, "ownerReferences": [owner], "labels": labels or {}}


def group_of(training):
    """The scheduler places its Pods only if there is room for all of them."""
    policy = {"gang": {"minCount": training["spec"]["workers"]}}
    return {"metadata": owned(training, training["metadata"]["name"]), "spec": {"schedulingPolicy": policy}}


def worker(training, index):
    name = training["metadata"]["name"]
    requests = {"cpu": training["spec"].get("cpu", "100m")}
    container = {"name": "worker", "image": training["spec"]["image"], "resources": {"requests": requests}}
    spec = {"containers": [container], "schedulingGroup": {"podGroupName": name}}
    return {"metadata": owned(training, f"{name}-{index}", {NAME: name}), "spec": spec}


def reconcile(cluster, namespace):
    """Admits what there is room for, makes what is missing, and says how far each training is."""
    queues = cluster.request("GET", f"{API.format(namespace)}/queues")["items"]
    trainings = cluster.request("GET", f"{API.format(namespace)}/trainings")["items"]
    trainings = [each for each in trainings if "deletionTimestamp" not in each["metadata"]]
    slots = {queue["metadata"]["name"]: queue["spec"]["slots"] for queue in queues}
    groups = names(cluster, GROUPS.format(namespace))
    pods = {pod["metadata"]["name"]: pod for pod in cluster.request("GET", PODS.format(namespace))["items"]}
    chosen = [training["metadata"]["name"] for training in admitted(trainings, slots)]
    for training in trainings:
        name = training["metadata"]["name"]
        if name not in chosen:
            report(cluster, namespace, training, "Waiting")
            continue
        # The quota is taken before there are Pods: a restart in between admits nobody else.
        workers = [worker(training, index) for index in range(training["spec"]["workers"])]
        known = [pods[each["metadata"]["name"]] for each in workers if each["metadata"]["name"] in pods]
        placed = len(known) == len(workers) and all(pod["spec"].get("nodeName") for pod in known)
        report(cluster, namespace, training, "Running" if placed else "Admitted")
        if name not in groups:
            cluster.request("POST", GROUPS.format(namespace), group_of(training))
        for each in workers:
            if each["metadata"]["name"] not in pods:
                cluster.request("POST", PODS.format(namespace), each)


def names(cluster, path):
    return {item["metadata"]["name"] for item in cluster.request("GET", path)["items"]}


def report(cluster, namespace, training, phase):
    if training.get("status", {}).get("phase") == phase:
        return
    path = f"{API.format(namespace)}/trainings/{training['metadata']['name']}/status"
    cluster.request("PUT", path, {**training, "status": {"phase": phase}})
