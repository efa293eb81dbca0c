/** Every controller at work on simulated nodes, as kubectl sees it: one cluster, a namespace for each story. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Home } from "../support/k8ts.ts";
import { CommandLine, tool } from "../support/tools.ts";

const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);

beforeAll(async () => {
  if (program === undefined) return;
  home = new Home();
  const up = await home.k8ts(
    ...["up", "--store", "memory", "--port", "0", "--detach", "--runtime", "simulated", "--nodes", "3"],
    ...["--controllers", "*,bootstrapsigner,tokencleaner"],
  );
  if (up.code !== 0) throw new Error(up.stderr);
});
afterAll(() => home?.[Symbol.asyncDispose]());

/** A namespace to each test, by its number. */
let count = 0;
beforeEach(async () => {
  if (program === undefined) return;
  count += 1;
  await kubectl.ok("create", "namespace", `story-${count}`);
  await kubectl.ok("config", "set-context", "--current", `--namespace=story-${count}`);
});

const PATIENT = "--timeout=60s";
const value = (resource: string, path: string) => kubectl.ok("get", ...resource.split(" "), "-o", `jsonpath=${path}`);
const becomes = (resource: string, path: string) => expect.poll(() => value(resource, path).catch(() => "(absent)"));
const waited = (resource: string, condition: string) =>
  kubectl.ok("wait", ...resource.split(" "), `--for=${condition}`, PATIENT);
const rolledOut = (resource: string) => kubectl.ok("rollout", "status", resource, PATIENT);
const create = (object: object) => kubectl.given(object).ok("create", "-f", "-");

const pods = (labels: Readonly<Record<string, string>>, command?: readonly string[]) => ({
  metadata: { labels },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "c", image: "app:1", ...(command && { command }) }],
  },
});
const workload = (kind: string, name: string, spec: object = {}) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: pods({ app: name }), ...spec },
});
const job = (name: string, command: readonly string[], spec: object = {}) => {
  const template = { spec: { ...pods({}, command).spec, restartPolicy: "Never" } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template, ...spec } };
};

describe.skipIf(program === undefined)("workloads (needs kubectl)", () => {
  it("a Deployment is created, changed, undone, paused, restarted, scaled, and runs on nodes all the while", async () => {
    await kubectl.ok("create", "deployment", "web", "--image=web:1", "--replicas=3");
    expect(await rolledOut("deployment/web")).toContain("successfully rolled out");
    expect(new Set((await value("pods", "{.items[*].spec.nodeName}")).split(" ")).size).toBe(3);
    await kubectl.ok("set", "image", "deployment/web", "web=web:2");
    await rolledOut("deployment/web");
    await becomes("pods", "{..containers[*].image}").toBe("web:2 web:2 web:2");
    expect(await kubectl.ok("rollout", "history", "deployment/web")).toMatch(/\n1 +<none>\n2 +<none>\n/);
    await kubectl.ok("rollout", "undo", "deployment/web");
    await rolledOut("deployment/web");
    await becomes("pods", "{..containers[*].image}").toBe("web:1 web:1 web:1");
    await kubectl.ok("rollout", "pause", "deployment/web");
    await kubectl.ok("set", "image", "deployment/web", "web=web:3");
    await kubectl.ok("rollout", "resume", "deployment/web");
    await rolledOut("deployment/web");
    expect(await value("deployment/web", "{.status.availableReplicas}")).toBe("3");
    const before = await value("pods", "{.items[*].metadata.name}");
    await kubectl.ok("rollout", "restart", "deployment/web");
    await rolledOut("deployment/web");
    const kept = async () =>
      (await value("pods", "{.items[*].metadata.name}")).split(" ").filter((name) => before.includes(name));
    await expect.poll(kept).toEqual([]);
    await kubectl.ok("scale", "deployment/web", "--replicas=5");
    await waited("deployment/web", "jsonpath={.status.readyReplicas}=5");
    await kubectl.ok("autoscale", "deployment", "web", "--min=2", "--max=6", "--cpu=50%");
    expect(await value("hpa/web", "{.spec.minReplicas} {.spec.maxReplicas} {.spec.scaleTargetRef.name}")).toBe(
      "2 6 web",
    );
  });

  it("a Service leads to the Pods that are ready, and to nobody once they are gone", async () => {
    await kubectl.ok("create", "deployment", "web", "--image=web:1", "--replicas=2", "--port=80");
    await kubectl.ok("expose", "deployment", "web", "--port=8080", "--target-port=80");
    await rolledOut("deployment/web");
    const ips = async () => (await value("pods", "{.items[*].status.podIP}")).split(" ").sort().join(" ");
    const sorted = async (path: string, resource: string) => (await value(resource, path)).split(" ").sort().join(" ");
    await expect.poll(() => sorted("{.subsets[*].addresses[*].ip}", "endpoints/web")).toBe(await ips());
    const slices = "endpointslices -l kubernetes.io/service-name=web";
    await expect.poll(() => sorted("{.items[*].endpoints[*].addresses[*]}", slices)).toBe(await ips());
    await kubectl.ok("scale", "deployment/web", "--replicas=0");
    await becomes(slices, "{.items[*].endpoints[*].addresses[*]}").toBe("");
    await create({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "outside" },
      spec: { ports: [{ port: 80 }] },
    });
    const subsets = [{ addresses: [{ ip: "192.0.2.7" }], ports: [{ port: 80 }] }];
    await create({ apiVersion: "v1", kind: "Endpoints", metadata: { name: "outside" }, subsets });
    await becomes(
      "endpointslices -l kubernetes.io/service-name=outside",
      "{.items[*].endpoints[*].addresses[*]} {.items[*].metadata.labels['endpointslice\\.kubernetes\\.io/managed-by']}",
    ).toBe("192.0.2.7 endpointslicemirroring-controller.k8s.io");
  });

  it("a StatefulSet comes up in order, is rolled backwards, and scales from its end", async () => {
    await create(workload("StatefulSet", "db", { serviceName: "db", replicas: 3 }));
    await rolledOut("statefulset/db");
    expect(await value("pods", "{.items[*].metadata.name}")).toBe("db-0 db-1 db-2");
    await kubectl.ok("set", "image", "statefulset/db", "c=app:2");
    await rolledOut("statefulset/db");
    await becomes("pods", "{..containers[*].image}").toBe("app:2 app:2 app:2");
    await kubectl.ok("rollout", "undo", "statefulset/db");
    await rolledOut("statefulset/db");
    await kubectl.ok("scale", "statefulset/db", "--replicas=1");
    await becomes("pods", "{.items[*].metadata.name}").toBe("db-0");
  });

  it("a DaemonSet is on every node, cordoned or not", async () => {
    await kubectl.ok("cordon", "-l", "kubernetes.io/os=linux");
    await create(workload("DaemonSet", "agent"));
    await rolledOut("daemonset/agent");
    await kubectl.ok("uncordon", "-l", "kubernetes.io/os=linux");
    const nodes = (await value("nodes", "{.items[*].metadata.name}")).split(" ").sort();
    expect((await value("pods", "{.items[*].spec.nodeName}")).split(" ").sort()).toEqual(nodes);
    await kubectl.ok("set", "image", "daemonset/agent", "c=app:2");
    await rolledOut("daemonset/agent");
    expect(await value("daemonset/agent", "{.status.updatedNumberScheduled} {.status.numberReady}")).toBe("3 3");
  });

  it("Jobs complete, fail, count indexes, and are cleared away", async () => {
    await create(job("good", ["true"], { completions: 3, parallelism: 2 }));
    await create(job("bad", ["false"], { backoffLimit: 0 }));
    await create(job("indexed", ["true"], { completions: 3, parallelism: 3, completionMode: "Indexed" }));
    await create(job("short", ["true"], { ttlSecondsAfterFinished: 1 }));
    await waited("job/good", "condition=complete");
    await waited("job/bad", "condition=failed");
    await waited("job/indexed", "condition=complete");
    expect(await value("job/good", "{.status.succeeded}")).toBe("3");
    expect(await value("job/bad", "{.status.conditions[?(@.type=='Failed')].reason}")).toBe("BackoffLimitExceeded");
    expect(await value("job/indexed", "{.status.completedIndexes}")).toBe("0-2");
    await waited("job/short", "delete");
    await kubectl.ok("delete", "job", "good", PATIENT);
    await becomes("pods -l job-name=good", "{.items[*].metadata.name}").toBe("");
  });

  it("a CronJob makes Jobs, also when asked to", async () => {
    await kubectl.ok("create", "cronjob", "tick", "--image=app:1", "--schedule=* * * * *", "--", "true");
    await kubectl.ok("create", "job", "now", "--from=cronjob/tick");
    await waited("job/now", "condition=complete");
    expect(await value("job/now", "{.metadata.annotations.cronjob\\.kubernetes\\.io/instantiate}")).toBe("manual");
    await kubectl.ok("patch", "cronjob", "tick", "-p", '{"spec":{"suspend":true}}');
    await kubectl.ok("delete", "cronjob", "tick", PATIENT);
    await becomes("jobs", "{.items[*].metadata.name}").toBe("");
  });

  it("a ReplicationController keeps its number, and adopts what fits", async () => {
    await create({
      apiVersion: "v1",
      kind: "Pod",
      ...pods({ app: "old" }),
      metadata: { name: "lone", labels: { app: "old" } },
    });
    const spec = { replicas: 2, selector: { app: "old" }, template: pods({ app: "old" }) };
    await create({ apiVersion: "v1", kind: "ReplicationController", metadata: { name: "old" }, spec });
    await waited("replicationcontroller/old", "jsonpath={.status.readyReplicas}=2");
    expect(await value("pod/lone", "{.metadata.ownerReferences[0].kind}")).toBe("ReplicationController");
  });
});

describe.skipIf(program === undefined)("nodes (needs kubectl)", () => {
  it("drain moves Pods elsewhere, one by one where a budget says so; cordon keeps new ones away", async () => {
    await create(workload("Deployment", "web", { replicas: 3 }));
    await kubectl.ok("create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=2");
    await rolledOut("deployment/web");
    await becomes("pdb/web", "{.status.disruptionsAllowed} {.status.currentHealthy}").toBe("1 3");
    const node = (await value("pods", "{.items[0].spec.nodeName}")) ?? "";
    expect(
      await kubectl.ok("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", PATIENT),
    ).toContain(`node/${node} drained`);
    await rolledOut("deployment/web");
    await becomes("pods", "{.items[*].spec.nodeName}").not.toContain(node);
    expect(await kubectl.ok("get", "node", node)).toContain("SchedulingDisabled");
    await kubectl.ok("uncordon", node);
    expect(await value(`node/${node}`, "{.spec.unschedulable}")).toBe("");
  });

  it("every node has a range of addresses, and how long to keep Secrets", async () => {
    await becomes("nodes", "{range .items[*]}{.spec.podCIDR}{'\\n'}{end}").toMatch(/^(10\.244\.\d+\.0\/24\n){3}$/);
    await becomes("nodes", "{.items[*].metadata.annotations.node\\.alpha\\.kubernetes\\.io/ttl}").toBe("0 0 0");
  });
});

describe.skipIf(program === undefined)("what goes with whom (needs kubectl)", () => {
  it("delete --cascade: foreground waits for all, orphan leaves them, and whoever fits takes them in", async () => {
    await create(workload("Deployment", "web", { replicas: 2 }));
    await rolledOut("deployment/web");
    const [set, running] = [await value("replicasets", "{..uid}"), await value("pods", "{.items[*].metadata.uid}")];
    await kubectl.ok("delete", "deployment", "web", "--cascade=orphan", PATIENT);
    expect(await value("replicasets", "{.items[*].metadata.ownerReferences}")).toBe("");
    expect(await value("pods", "{.items[*].metadata.uid}")).toBe(running);
    await create(workload("Deployment", "web", { replicas: 2 }));
    await rolledOut("deployment/web");
    expect(set).toContain(await value("replicasets", "{.items[0].metadata.uid}"));
    expect(await value("pods", "{.items[*].metadata.uid}")).toBe(running);
    await kubectl.ok("delete", "deployment", "web", "--cascade=foreground", PATIENT);
    expect(await kubectl.ok("get", "replicasets,pods", "-o", "name")).toBe("");
  });

  it("a namespace goes with everything in it, and comes with what every namespace has", async () => {
    await becomes("serviceaccounts", "{.items[*].metadata.name}").toBe("default");
    await becomes("configmaps", "{.items[*].metadata.name}").toBe("kube-root-ca.crt");
    await kubectl.ok("create", "namespace", "brief");
    await kubectl.given(workload("Deployment", "web", { replicas: 2 })).ok("-n", "brief", "create", "-f", "-");
    await kubectl.ok("-n", "brief", "rollout", "status", "deployment/web", PATIENT);
    await kubectl.ok("delete", "namespace", "brief", PATIENT);
    expect(await kubectl.ok("get", "all", "-n", "brief", "-o", "name")).toBe("");
  });

  it("a ResourceQuota counts, and keeps to its limit", async () => {
    await kubectl.ok("create", "quota", "small", "--hard=pods=2");
    await becomes("quota/small", "{.status.used.pods}").toBe("0");
    await create(workload("Deployment", "web", { replicas: 3 }));
    await becomes("quota/small", "{.status.used.pods}").toBe("2");
    await becomes("deployment/web", "{.status.conditions[?(@.type=='ReplicaFailure')].reason}").toBe("FailedCreate");
  });

  it("a claim is bound to a volume that fits, and neither goes while it is used", async () => {
    const capacity = { storage: "1Gi" };
    const access = { accessModes: ["ReadWriteOnce"], storageClassName: "manual" };
    const volume = { ...access, capacity, hostPath: { path: "/data" } };
    await create({ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `disk-${count}` }, spec: volume });
    const claim = { ...access, resources: { requests: capacity } };
    await create({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "data" }, spec: claim });
    await waited("pvc/data", "jsonpath={.status.phase}=Bound");
    const spec = { ...pods({}).spec, volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] };
    await create({ apiVersion: "v1", kind: "Pod", metadata: { name: "user" }, spec });
    await waited("pod/user", "condition=Ready");
    await kubectl.ok("delete", "pvc", "data", "--wait=false");
    expect(await value("pvc/data", "{.status.phase} {.metadata.finalizers[0]}")).toBe(
      "Bound kubernetes.io/pvc-protection",
    );
    await kubectl.ok("delete", "pod", "user", PATIENT);
    await waited("pvc/data", "delete");
    await becomes(`pv/disk-${count}`, "{.status.phase}").toBe("Released");
    await kubectl.ok("delete", "pv", `disk-${count}`, PATIENT);
  });

  it("a role gathers the rules of others, and tokens that are over are taken away", async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { gathered: "yes" } }] };
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };
    await create({ ...role, metadata: { name: "sum" }, aggregationRule, rules: [] });
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
    await create({ ...role, metadata: { name: "part", labels: { gathered: "yes" } }, rules });
    await becomes("clusterrole/sum", "{.rules[*].resources[*]}").toBe("pods");
    const stringData = {
      "token-id": "abcdef",
      "token-secret": "0123456789abcdef",
      expiration: "2020-01-01T00:00:00Z",
    };
    await kubectl
      .given({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "bootstrap-token-abcdef" },
        type: "bootstrap.kubernetes.io/token",
        stringData,
      })
      .ok("-n", "kube-system", "create", "-f", "-");
    await waited("secret/bootstrap-token-abcdef -n kube-system", "delete");
  });
});
