/**
 * Situations in which somebody asks why, on clusters in this process: the first line names the cause with its figure,
 * and what the hint says mends it.
 */
import { afterEach, describe, expect, it } from "vitest";
import { type apps, type core, type KubeObject, kinds } from "#api";
import { VirtualClock } from "#base";
import type { ResourceOf } from "#client";
import { type ClusterOptions, NeverHappened, startCluster, type TestCluster } from "../../../testing/index.ts";
import { headline, type WhyAnswer } from "./answer.ts";
import { answerWhy } from "./gather.ts";
import type { WhySource } from "./source.ts";

interface Situation {
  readonly name: string;
  readonly options?: ClusterOptions;
  readonly given: (cluster: TestCluster) => Promise<unknown>;
  readonly ask: string;
  /** The end of the first line. */
  readonly cause: string;
  readonly hint: string;
  /** What the hint says. */
  readonly mend: (cluster: TestCluster) => Promise<unknown>;
  /** What the first line is then. Default: no cause is left. */
  readonly after?: RegExp;
}

const NS = "default";
const NODE = "node-1";

function sourceOf(cluster: TestCluster): WhySource {
  return {
    client: cluster.client,
    records: cluster.records.records(),
    clock: new VirtualClock(cluster.clock.now()),
    attempts: async () => [],
    lastWords: async () => [],
  };
}

const why = (cluster: TestCluster, object: string): Promise<WhyAnswer> => answerWhy(sourceOf(cluster), object, NS);

const clusters: TestCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.stop();
});

const container = (more: Partial<core.Container> = {}): core.Container => ({ name: "c", image: "app:1", ...more });
const pod = (name: string, spec: Partial<core.PodSpec> = {}, metadata: core.Pod["metadata"] = {}): core.Pod => ({
  metadata: { name, namespace: NS, ...metadata },
  spec: { containers: [container()], ...spec },
});
const asking = (requests: Record<string, string>) => ({ containers: [container({ resources: { requests } })] });
const labels = { app: "web" };
const template = (spec: Partial<core.PodSpec> = {}) => ({
  metadata: { labels },
  spec: { containers: [container()], ...spec },
});
const deployment = (spec: Partial<core.PodSpec> = {}, more: Partial<apps.DeploymentSpec> = {}): apps.Deployment => ({
  metadata: { name: "web", namespace: NS },
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template(spec), ...more },
});

const make =
  <T extends KubeObject>(type: ResourceOf<T>, object: T) =>
  (cluster: TestCluster) =>
    cluster.client.of(type).create(object);
const makePod = (name: string, spec: Partial<core.PodSpec> = {}, metadata: core.Pod["metadata"] = {}) =>
  make(kinds.Pod, pod(name, spec, metadata));
const remove =
  <T extends KubeObject>(type: ResourceOf<T>, name: string) =>
  ({ client }: TestCluster) =>
    client.of(type).in(NS).delete(name);
const change =
  <T extends KubeObject>(type: ResourceOf<T>, name: string, object: object, namespace = NS) =>
  ({ client }: TestCluster) => {
    const all = client.of(type);
    return (namespace === "" ? all : all.in(namespace)).patch(name, { type: "merge", object: object as never });
  };
const node = (object: object) => change(kinds.Node, NODE, object, "");
const all =
  (...steps: readonly ((cluster: TestCluster) => Promise<unknown>)[]) =>
  async (cluster: TestCluster) => {
    for (const step of steps) {
      await step(cluster);
      await cluster.settle();
    }
  };
const pass = (time: string) => (cluster: TestCluster) => cluster.clock.advance(time);
const again = (name: string, spec: Partial<core.PodSpec>) =>
  all(
    remove(kinds.Pod, name),
    (cluster) =>
      cluster.eventually(
        async () =>
          (await cluster.client.of(kinds.Pod).in(NS).list()).items.every(({ metadata }) => metadata.name !== name),
        { what: "the end of the Pod" },
      ),
    makePod(name, spec),
  );

const images = {
  crasher: { runForMs: 5_000, exitCode: 3 },
  eater: { runForMs: 5_000, exitCode: 137, exitReason: "OOMKilled" },
  unready: { readyDelayMs: Number.POSITIVE_INFINITY },
  nowhere: { failedPulls: Number.POSITIVE_INFINITY },
};
const small: ClusterOptions = { nodes: { count: 1, cpu: "4", memory: "8Gi", pods: 2 } };
const claimOf = (claimName: string): Partial<core.PodSpec> => ({
  volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
});
const access = { accessModes: ["ReadWriteOnce" as const] };
const claim = (storageClassName?: string): core.PersistentVolumeClaim => ({
  metadata: { name: "data", namespace: NS },
  spec: {
    ...access,
    ...(storageClassName !== undefined && { storageClassName }),
    resources: { requests: { storage: "1Gi" } },
  },
});
const volume: core.PersistentVolume = {
  metadata: { name: "disk" },
  spec: { ...access, capacity: { storage: "1Gi" }, hostPath: { path: "/data" } },
};
const service = (port: core.ServicePort, selector: Record<string, string> = labels): core.Service => ({
  metadata: { name: "web", namespace: NS },
  spec: { selector, ports: [port] },
});
const served = container({ ports: [{ name: "http", containerPort: 8080 }] });
const ingress = (name: string, number: number, ingressClassName?: string) => ({
  metadata: { name: "web", namespace: NS },
  spec: {
    ...(ingressClassName !== undefined && { ingressClassName }),
    rules: [
      {
        http: { paths: [{ path: "/", pathType: "Prefix" as const, backend: { service: { name, port: { number } } } }] },
      },
    ],
  },
});
const nginx = make(kinds.IngressClass, { metadata: { name: "nginx" }, spec: { controller: "example.com/ingress" } });
const cronJob = (image: string, more: object = {}) => ({
  metadata: { name: "report", namespace: NS },
  spec: {
    schedule: "*/10 * * * *",
    jobTemplate: {
      spec: {
        backoffLimit: 0,
        template: { spec: { restartPolicy: "Never" as const, containers: [container({ image })] } },
      },
    },
    ...more,
  },
});
const job = (image: string, more: object = {}) => ({
  metadata: { name: "load", namespace: NS },
  spec: {
    backoffLimit: 0,
    template: { spec: { restartPolicy: "Never" as const, containers: [container({ image })] } },
    ...more,
  },
});

const device = (name: string) =>
  make(kinds.ResourceClaim, {
    metadata: { name, namespace: NS },
    spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "gpu" } }] } },
  });
const gpus = all(
  make(kinds.DeviceClass, { metadata: { name: "gpu" }, spec: {} }),
  make(kinds.ResourceSlice, {
    metadata: { name: "gpus" },
    spec: {
      driver: "gpu.example.com",
      nodeName: NODE,
      pool: { name: NODE, generation: 1, resourceSliceCount: 1 },
      devices: [{ name: "gpu-0" }],
    },
  }),
);
const claiming = (resourceClaimName: string) => ({ resourceClaims: [{ name: "gpu", resourceClaimName }] });

const SITUATIONS: readonly Situation[] = [
  {
    name: "a Pod whose claim does not exist",
    options: small,
    given: all(gpus, makePod("p", claiming("mine"))),
    ask: "pod/p",
    cause: "resourceclaim/mine: it does not exist",
    hint: "create the ResourceClaim mine",
    mend: device("mine"),
  },
  {
    name: "a Pod whose device another one has",
    options: small,
    given: all(gpus, device("c1"), device("c2"), makePod("o", claiming("c1")), makePod("p", claiming("c2"))),
    ask: "pod/p",
    cause: "resourceclaim/c2: request r needs 1 device(s), 0 of 1 would do",
    hint: "what would free a device: the end of claim default/c1 of pod o",
    mend: remove(kinds.Pod, "o"),
  },
  {
    name: "a Pod that is larger than every node",
    options: small,
    given: makePod("p", asking({ cpu: "64" })),
    ask: "pod/p",
    cause: "it wants 64 CPUs, node node-1 has 4 free",
    hint: "request less cpu: at most 4 now",
    mend: again("p", asking({ cpu: "4" })),
  },
  {
    name: "a Pod beside others that have the memory",
    options: small,
    given: all(makePod("o", asking({ memory: "6Gi" })), makePod("p", asking({ memory: "3Gi" }))),
    ask: "pod/p",
    cause: "it wants 3Gi of memory, node node-1 has 2Gi free",
    hint: "delete other Pods",
    mend: remove(kinds.Pod, "o"),
  },
  {
    name: "a Pod that wants a device",
    options: small,
    given: makePod("p", { containers: [container({ resources: { limits: { "example.com/gpu": "2" } } })] }),
    ask: "pod/p",
    cause: "no node has example.com/gpu",
    hint: "remove the request for example.com/gpu",
    mend: again("p", {}),
  },
  {
    name: "a node that is full",
    options: small,
    given: all(makePod("a"), makePod("b"), makePod("p")),
    ask: "pod/p",
    cause: "node node-1 has 2 Pods, and takes 2",
    hint: "delete other Pods",
    mend: remove(kinds.Pod, "a"),
  },
  {
    name: "a taint",
    given: all(node({ spec: { taints: [{ key: "team", value: "db", effect: "NoSchedule" }] } }), makePod("p")),
    ask: "pod/p",
    cause: "node node-1 has the taint team=db:NoSchedule, which it does not tolerate",
    hint: "`kubectl taint node node-1 team:NoSchedule-`",
    mend: node({ spec: { taints: [] } }),
  },
  {
    name: "a label that no node has",
    given: makePod("p", { nodeSelector: { disk: "ssd" } }),
    ask: "pod/p",
    cause: "no node has the label disk=ssd, which it selects",
    hint: "`kubectl label node node-1 disk=ssd`",
    mend: node({ metadata: { labels: { disk: "ssd" } } }),
  },
  {
    name: "a node affinity that no node matches",
    given: makePod("p", {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] }],
          },
        },
      },
    }),
    ask: "pod/p",
    cause: "no node matches its node affinity zone In (a, b)",
    hint: "`kubectl label node node-1 zone=a`",
    mend: node({ metadata: { labels: { zone: "a" } } }),
  },
  {
    name: "a cordoned node",
    given: all(node({ spec: { unschedulable: true } }), makePod("p")),
    ask: "pod/p",
    cause: "node node-1 is cordoned",
    hint: "`kubectl uncordon node-1`",
    mend: node({ spec: { unschedulable: null, taints: null } }),
  },
  {
    name: "a host port that is taken",
    given: all(
      makePod("o", { containers: [container({ ports: [{ containerPort: 80, hostPort: 8080 }] })] }),
      makePod("p", { containers: [container({ ports: [{ containerPort: 80, hostPort: 8080 }] })] }),
    ),
    ask: "pod/p",
    cause: "the host port 8080 of node node-1 is taken by pod/o",
    hint: "`kubectl delete pod o -n default`",
    mend: remove(kinds.Pod, "o"),
  },
  {
    name: "a claim that does not exist",
    given: all(make(kinds.PersistentVolume, volume), makePod("p", claimOf("data"))),
    ask: "pod/p",
    cause: "its claim data does not exist",
    hint: "create the claim data",
    mend: make(kinds.PersistentVolumeClaim, claim("")),
  },
  {
    name: "a Pod whose claim is not bound",
    given: all(make(kinds.PersistentVolumeClaim, claim("")), makePod("p", claimOf("data"))),
    ask: "pod/p",
    cause: "no persistent volumes available for this claim and no storage class is set",
    hint: "create a PersistentVolume that fits",
    mend: make(kinds.PersistentVolume, volume),
  },
  {
    name: "a claim without a class",
    given: make(kinds.PersistentVolumeClaim, claim()),
    ask: "pvc/data",
    cause: "it has no storage class, and there is no default one",
    hint: "name a class",
    mend: all(
      make(kinds.PersistentVolume, { ...volume, spec: { ...volume.spec, storageClassName: "by-hand" } }),
      remove(kinds.PersistentVolumeClaim, "data"),
      pass("1s"),
      make(kinds.PersistentVolumeClaim, claim("by-hand")),
    ),
  },
  {
    name: "a claim that is going, and used",
    given: all(
      make(kinds.PersistentVolume, volume),
      make(kinds.PersistentVolumeClaim, claim("")),
      makePod("p", claimOf("data")),
      pass("5s"),
      remove(kinds.PersistentVolumeClaim, "data"),
    ),
    ask: "pvc/data",
    cause: "used by pod/p",
    hint: "it goes when these Pods are gone",
    mend: remove(kinds.Pod, "p"),
    after: /does not exist/,
  },
  {
    name: "a scheduling gate",
    given: makePod("p", { schedulingGates: [{ name: "example.com/quota" }] }),
    ask: "pod/p",
    cause: "it waits for its scheduling gates example.com/quota",
    hint: "must remove them",
    mend: change(kinds.Pod, "p", { spec: { schedulingGates: [] } }),
  },
  {
    name: "a scheduler that is not there",
    given: makePod("p", { schedulerName: "mine" }),
    ask: "pod/p",
    cause: "it requests the scheduler mine, which does not run",
    hint: "remove schedulerName",
    mend: again("p", {}),
  },
  {
    name: "an image that cannot be pulled",
    given: makePod("p", { containers: [container({ image: "nowhere:1" })] }),
    ask: "pod/p",
    cause: "the image nowhere:1 cannot be pulled: it is scripted to fail",
    hint: "check the image name",
    mend: again("p", {}),
  },
  {
    name: "a container that crashes",
    given: makePod("p", { containers: [container({ image: "crasher:1" })] }),
    ask: "pod/p",
    cause: "container c exited with 3 (Error) after 5 s",
    hint: "-c c --previous` shows its last output",
    mend: again("p", {}),
  },
  {
    name: "a container that takes too much memory",
    given: makePod("p", { containers: [container({ image: "eater:1" })] }),
    ask: "pod/p",
    cause: "container c exited with 137 (OOMKilled) after 5 s",
    hint: "raise the limit",
    mend: again("p", { containers: [container({ resources: { limits: { memory: "4Gi" } } })] }),
  },
  {
    name: "a container that is never ready",
    given: makePod("p", { containers: [container({ image: "unready:1" })] }),
    ask: "pod/p",
    cause: "container c runs, and its readiness probe has not succeeded",
    hint: "mend what the readiness probe of container c asks for",
    mend: again("p", {}),
  },
  {
    name: "an init container that does not end",
    given: makePod("p", { initContainers: [container({ name: "init", command: ["sleep", "infinity"] })] }),
    ask: "pod/p",
    cause: "its init container init has not ended",
    hint: "the others start when it ends",
    mend: again("p", { initContainers: [container({ name: "init", command: ["true"] })] }),
  },
  {
    name: "a readiness gate",
    given: makePod("p", { readinessGates: [{ conditionType: "example.com/warm" }] }),
    ask: "pod/p",
    cause: "its readiness gate example.com/warm is not True",
    hint: "must set the condition",
    mend: ({ client }) =>
      client
        .of(kinds.Pod)
        .in(NS)
        .subresource("p", "status")
        .patch({
          type: "strategic",
          object: { status: { conditions: [{ type: "example.com/warm", status: "True" }] } },
        }),
  },
  {
    name: "a Pod that a finalizer keeps",
    given: all(makePod("p", {}, { finalizers: ["example.com/hold"] }), pass("2s"), remove(kinds.Pod, "p")),
    ask: "pod/p",
    cause: "the finalizers example.com/hold keep it",
    hint: "must remove them",
    mend: change(kinds.Pod, "p", { metadata: { finalizers: null } }),
    after: /does not exist/,
  },
  {
    name: "a Pod that has failed",
    given: makePod("p", { restartPolicy: "Never", containers: [container({ image: "crasher:1" })] }),
    ask: "pod/p",
    cause: "container c exited with 3 (Error)",
    hint: "`kubectl logs`",
    mend: again("p", {}),
  },
  {
    name: "a Pod on a node that fell silent",
    given: all(makePod("p"), pass("5s"), async (cluster) => cluster.stopNode(NODE), pass("2m")),
    ask: "pod/p",
    cause: "its node node-1 is not ready: Kubelet stopped posting node status.",
    hint: "inspect the node",
    mend: async (cluster) => cluster.startNode(NODE),
  },
  {
    name: "a Deployment whose Pods fit nowhere",
    given: make(kinds.Deployment, deployment({ nodeSelector: { disk: "ssd" } })),
    ask: "deployment/web",
    cause: "no node has the label disk=ssd, which it selects",
    hint: "`kubectl label node node-1 disk=ssd`",
    mend: node({ metadata: { labels: { disk: "ssd" } } }),
  },
  {
    name: "a Deployment that is paused",
    given: make(kinds.Deployment, deployment({}, { paused: true })),
    ask: "deployment/web",
    cause: "it is paused",
    hint: "`kubectl rollout resume deployment/web`",
    mend: change(kinds.Deployment, "web", { spec: { paused: null } }),
  },
  {
    name: "a rollout that waits, while the earlier version serves",
    given: all(
      make(kinds.Deployment, deployment({}, { replicas: 1 })),
      pass("10s"),
      change(kinds.Deployment, "web", deployment({ containers: [container({ image: "nowhere:1" })] }, { replicas: 1 })),
      pass("10s"),
    ),
    ask: "deployment/web",
    cause: "the image nowhere:1 cannot be pulled: it is scripted to fail",
    hint: "image",
    mend: all(change(kinds.Deployment, "web", deployment({}, { replicas: 1 })), pass("10s")),
  },
  {
    name: "a Deployment beyond the quota",
    given: all(
      make(kinds.ResourceQuota, { metadata: { name: "few", namespace: NS }, spec: { hard: { pods: "1" } } }),
      pass("2s"),
      make(kinds.Deployment, deployment()),
    ),
    ask: "deployment/web",
    cause: "exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1",
    hint: "raise the quota",
    mend: change(kinds.ResourceQuota, "few", { spec: { hard: { pods: "5" } } }),
  },
  {
    name: "a ResourceQuota that is used up",
    given: all(
      make(kinds.ResourceQuota, {
        metadata: { name: "few", namespace: NS },
        spec: { hard: { pods: "1", "requests.cpu": "2" } },
      }),
      pass("2s"),
      makePod("p", asking({ cpu: "500m" })),
      pass("2s"),
    ),
    ask: "quota/few",
    cause: "resourcequota/few is used up: pods: 1 of 1 used",
    hint: "raise spec.hard",
    mend: all(change(kinds.ResourceQuota, "few", { spec: { hard: { pods: "5" } } }), pass("2s")),
  },
  {
    name: "an Ingress without a class where none exists",
    given: make(kinds.Ingress, ingress("web", 80)),
    ask: "ing/web",
    cause: "it names no class, and there is no IngressClass",
    hint: "install an ingress controller",
    mend: nginx,
    after: /there is no default one: there are nginx/,
  },
  {
    name: "a ReplicaSet whose ServiceAccount is missing",
    given: make(kinds.ReplicaSet, {
      metadata: { name: "web", namespace: NS },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: template({ serviceAccountName: "robot" }) },
    }),
    ask: "rs/web",
    cause: 'serviceaccount "robot" not found',
    hint: "`kubectl create serviceaccount robot`",
    mend: make(kinds.ServiceAccount, { metadata: { name: "robot", namespace: NS } }),
  },
  {
    name: "a StatefulSet that waits for its first Pod",
    given: make(kinds.StatefulSet, {
      metadata: { name: "db", namespace: NS },
      spec: {
        replicas: 3,
        serviceName: "db",
        selector: { matchLabels: labels },
        template: template({ nodeSelector: { disk: "ssd" } }),
      },
    }),
    ask: "sts/db",
    cause: "no node has the label disk=ssd, which it selects",
    hint: "`kubectl label node node-1 disk=ssd`",
    mend: node({ metadata: { labels: { disk: "ssd" } } }),
  },
  {
    name: "a DaemonSet that no node is for",
    given: make(kinds.DaemonSet, {
      metadata: { name: "agent", namespace: NS },
      spec: { selector: { matchLabels: labels }, template: template({ nodeSelector: { gpu: "yes" } }) },
    }),
    ask: "ds/agent",
    cause: "no node has the label gpu=yes, which it selects",
    hint: "kubectl label node NAME gpu=yes",
    mend: node({ metadata: { labels: { gpu: "yes" } } }),
  },
  {
    name: "a DaemonSet whose Pod crashes",
    given: make(kinds.DaemonSet, {
      metadata: { name: "agent", namespace: NS },
      spec: {
        selector: { matchLabels: labels },
        template: template({ containers: [container({ image: "crasher:1" })] }),
      },
    }),
    ask: "ds/agent",
    cause: "container c exited with 3 (Error) after 5 s",
    hint: "-c c --previous` shows its last output",
    mend: change(kinds.DaemonSet, "agent", { spec: { template: { spec: { containers: [container()] } } } }),
  },
  {
    name: "a Service whose selector no Pod has",
    given: all(
      makePod("p", { containers: [served] }, { labels }),
      make(kinds.Service, service({ port: 80, targetPort: 8080 }, { app: "wbe" })),
    ),
    ask: "svc/web",
    cause: "no Pod has the labels app=wbe",
    hint: "fix the selector or the labels",
    mend: change(kinds.Service, "web", { spec: { selector: labels } }),
  },
  {
    name: "a Service whose targetPort no container has",
    given: all(
      makePod("p", { containers: [served] }, { labels }),
      make(kinds.Service, service({ port: 80, targetPort: 9090 })),
    ),
    ask: "svc/web",
    cause: "its port 80/TCP leads to targetPort 9090, which no container of its Pods has: they have 8080 (http)",
    hint: "set targetPort to 8080",
    mend: change(kinds.Service, "web", { spec: { ports: [{ port: 80, targetPort: 8080 }] } }),
  },
  {
    name: "a Service whose named targetPort no container has",
    given: all(
      makePod("p", { containers: [served] }, { labels }),
      make(kinds.Service, service({ port: 80, targetPort: "web" })),
    ),
    ask: "svc/web",
    cause: "its port 80/TCP leads to targetPort web, which no container of its Pods has: they have 8080 (http)",
    hint: "set targetPort to http",
    mend: change(kinds.Service, "web", { spec: { ports: [{ port: 80, targetPort: "http" }] } }),
  },
  {
    name: "a Service whose Pods are not ready",
    given: all(
      makePod("p", { containers: [{ ...served, image: "unready:1" }] }, { labels }),
      make(kinds.Service, service({ port: 80, targetPort: 8080 })),
    ),
    ask: "svc/web",
    cause: "container c runs, and its readiness probe has not succeeded",
    hint: "mend what the readiness probe of container c asks for",
    mend: all(remove(kinds.Pod, "p"), pass("5s"), makePod("q", { containers: [served] }, { labels })),
  },
  {
    name: "a Job that has failed",
    given: make(kinds.Job, job("crasher:1")),
    ask: "job/load",
    cause: "container c exited with 3 (Error)",
    hint: "delete and recreate it",
    mend: all(
      ({ client }) => client.of(kinds.Job).in(NS).delete("load", { propagationPolicy: "Background" }),
      pass("5s"),
      make(kinds.Job, job("app:1")),
    ),
  },
  {
    name: "a Job that is suspended",
    given: make(kinds.Job, job("app:1", { suspend: true })),
    ask: "job/load",
    cause: "it is suspended",
    hint: `kubectl patch job/load -p '{"spec":{"suspend":false}}'`,
    mend: change(kinds.Job, "load", { spec: { suspend: false } }),
  },
  {
    name: "a CronJob that is suspended",
    given: make(kinds.CronJob, cronJob("app:1", { suspend: true })),
    ask: "cronjob/report",
    cause: "it is suspended",
    hint: `kubectl patch cronjob/report -p '{"spec":{"suspend":false}}'`,
    mend: all(change(kinds.CronJob, "report", { spec: { suspend: false } }), pass("10m")),
  },
  {
    name: "a CronJob whose last Job still runs",
    given: all(
      make(kinds.CronJob, {
        ...cronJob("app:1", { concurrencyPolicy: "Forbid" }),
        spec: {
          ...cronJob("app:1").spec,
          concurrencyPolicy: "Forbid" as const,
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Never" as const, containers: [container({ command: ["sleep", "infinity"] })] },
              },
            },
          },
        },
      }),
      pass("25m"),
    ),
    ask: "cj/report",
    cause: "still runs, and concurrencyPolicy is Forbid",
    hint: "or allow several: concurrencyPolicy: Allow",
    mend: change(kinds.CronJob, "report", { spec: { concurrencyPolicy: "Allow" } }),
  },
  {
    name: "a CronJob whose Jobs fail",
    given: all(make(kinds.CronJob, cronJob("crasher:1", {})), pass("15m")),
    ask: "cj/report",
    cause: "container c exited with 3 (Error)",
    hint: "`kubectl logs`",
    mend: all(change(kinds.CronJob, "report", cronJob("app:1")), pass("70m")),
  },
  {
    name: "an Ingress without a class",
    given: all(
      nginx,
      makePod("p", { containers: [served] }, { labels }),
      make(kinds.Service, service({ port: 80, targetPort: 8080 })),
      make(kinds.Ingress, ingress("web", 80)),
    ),
    ask: "ing/web",
    cause: "it names no class, and there is no default one: there are nginx",
    hint: "spec.ingressClassName: nginx",
    mend: change(kinds.Ingress, "web", { spec: { ingressClassName: "nginx" } }),
  },
  {
    name: "an Ingress whose class does not exist",
    given: make(kinds.Ingress, ingress("web", 80, "nginx")),
    ask: "ing/web",
    cause: "its class nginx does not exist: there is none",
    hint: "create the IngressClass nginx",
    mend: nginx,
    after: /the Service web does not exist/,
  },
  {
    name: "an Ingress whose Service does not exist",
    given: all(
      nginx,
      makePod("p", { containers: [served] }, { labels }),
      make(kinds.Ingress, ingress("web", 80, "nginx")),
    ),
    ask: "ing/web",
    cause: "the Service web does not exist",
    hint: "create the Service web",
    mend: make(kinds.Service, service({ port: 80, targetPort: 8080 })),
  },
  {
    name: "an Ingress that names another port",
    given: all(
      nginx,
      makePod("p", { containers: [served] }, { labels }),
      make(kinds.Service, service({ port: 80, targetPort: 8080 })),
      make(kinds.Ingress, ingress("web", 8080, "nginx")),
    ),
    ask: "ing/web",
    cause: "service/web has no port 8080: it has 80",
    hint: "name port 80 in the Ingress",
    mend: change(kinds.Ingress, "web", ingress("web", 80, "nginx")),
  },
  {
    name: "a node that is cordoned",
    given: node({ spec: { unschedulable: true } }),
    ask: "node/node-1",
    cause: "it is cordoned, and takes no new Pods",
    hint: "`kubectl uncordon node-1`",
    mend: node({ spec: { unschedulable: null, taints: null } }),
  },
  {
    name: "a node that fell silent",
    given: all(async (cluster) => cluster.stopNode(NODE), pass("2m")),
    ask: "node/node-1",
    cause: "its kubelet is silent, last heard ",
    hint: "`k8ts node start node-1`",
    mend: async (cluster) => cluster.startNode(NODE),
  },
  {
    name: "a node with a taint",
    given: node({ spec: { taints: [{ key: "team", value: "db", effect: "NoSchedule" }] } }),
    ask: "no/node-1",
    cause: "it takes only Pods that tolerate its taint team=db:NoSchedule",
    hint: "`kubectl taint node node-1 team:NoSchedule-`",
    mend: node({ spec: { taints: [] } }),
  },
  {
    name: "a namespace that an object holds",
    given: all(
      make(kinds.Namespace, { metadata: { name: "shop" } }),
      make(kinds.ConfigMap, { metadata: { name: "kept", namespace: "shop", finalizers: ["example.com/hold"] } }),
      ({ client }) => client.of(kinds.Namespace).delete("shop"),
    ),
    ask: "ns/shop",
    cause: "configmap/kept is held by the finalizer example.com/hold",
    hint: "kubectl patch configmap kept -n shop --type=json",
    mend: change(kinds.ConfigMap, "kept", { metadata: { finalizers: null } }, "shop"),
    after: /does not exist/,
  },
  {
    name: "a budget that allows nothing",
    given: all(
      make(kinds.Deployment, deployment()),
      make(kinds.PodDisruptionBudget, {
        metadata: { name: "web", namespace: NS },
        spec: { minAvailable: 2, selector: { matchLabels: labels } },
      }),
    ),
    ask: "pdb/web",
    cause: "2 of 2 Pods are healthy, 2 must be (minAvailable 2)",
    hint: "add replicas",
    mend: change(kinds.Deployment, "web", { spec: { replicas: 3 } }),
  },
  {
    name: "an object of any other kind",
    given: all(
      make(kinds.CustomResourceDefinition, {
        metadata: { name: "widgets.example.com" },
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { plural: "widgets", singular: "widget", kind: "Widget" },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
            },
          ],
        },
      }),
      pass("5s"),
      make(WIDGETS(), {
        metadata: { name: "one", namespace: NS },
        status: { conditions: [{ type: "Ready", status: "False", reason: "NoPower", message: "the plug is out" }] },
      } as KubeObject),
    ),
    ask: "widgets.example.com/one",
    cause: "the plug is out",
    hint: "`k8ts flow widget/one`",
    mend: change(WIDGETS(), "one", { status: { conditions: [{ type: "Ready", status: "True" }] } }),
  },
];

function WIDGETS(): ResourceOf<KubeObject> {
  return { apiVersion: "example.com/v1", kind: "Widget", plural: "widgets", namespaced: true };
}

describe("why, and what mends it", () => {
  it.each(SITUATIONS)("$name", async ({ options = {}, given, ask, cause, hint, mend, after }) => {
    const cluster = await startCluster({ images, ...options });
    clusters.push(cluster);
    await given(cluster);
    const asked = await cluster
      .eventually(
        async () => {
          const answer = await why(cluster, ask);
          return headline(answer).includes(cause) ? answer : undefined;
        },
        { within: "3m" },
      )
      .catch((error: unknown) => {
        if (error instanceof NeverHappened) return why(cluster, ask);
        throw error;
      });
    expect(headline(asked)).toContain(cause);
    expect(asked.help.join("\n")).toContain(hint);
    await mend(cluster);
    const isMended = (answer: WhyAnswer) =>
      after === undefined ? answer.cause === undefined : after.test(headline(answer));
    await cluster
      .eventually(async () => isMended(await why(cluster, ask)), { within: "20m" })
      .catch((error: unknown) => {
        if (!(error instanceof NeverHappened)) throw error;
      });
    // What ends only between two crashes is not mended.
    await cluster.clock.advance("3m");
    const mended = await why(cluster, ask);
    if (after === undefined) expect(headline(mended)).toBe(mended.what);
    else expect(headline(mended)).toMatch(after);
  });

  it("there are forty", () => {
    expect(SITUATIONS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(SITUATIONS.map(({ name }) => name)).size).toBe(SITUATIONS.length);
  });
});
