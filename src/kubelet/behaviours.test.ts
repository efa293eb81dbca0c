/**
 * One table of behaviours for both kinds of nodes: the kubelet (here on the simulated runtime) and the nodes of a
 * fleet. Everything is driven and seen through the API.
 *
 * 1. After each step, the Pod must look as the row says on both kinds, and its whole status must be the same on both,
 *    apart from times, ids and addresses.
 * 2. Where the two differ on purpose, the row says why.
 */
import { describe, expect, it } from "vitest";
import { compareQuantities, type core, kinds, parseQuantity } from "#api";
import { type NodeKind, type TestNode, testNode } from "./testing/index.ts";

const KINDS: readonly NodeKind[] = ["kubelet", "fleet"];

interface Step {
  readonly do?: (node: TestNode) => Promise<unknown>;
  /** How long to wait before looking. Default: 1. */
  readonly seconds?: number;
  /** What the Pod `p` has to match; null: it is gone. */
  readonly want?: object | null;
  /** Why the statuses of the two are not compared here. */
  readonly notCompared?: string;
}

interface Row {
  readonly name: string;
  readonly spec?: Partial<core.PodSpec>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata?: Partial<core.Pod["metadata"]>;
  /** Before the Pod is created. */
  readonly before?: (node: TestNode) => Promise<unknown>;
  readonly steps: readonly Step[];
  /** Why the statuses of the two differ, and what is left out of the comparison. */
  readonly differs?: { readonly because: string; readonly fields: readonly string[] };
}

const c = (more: Partial<core.Container> = {}): core.Container => ({ name: "c", image: "img:1", ...more });
const runs = (...command: string[]) => c({ command });
const sh = (script: string, name = "c") => c({ name, command: ["sh", "-c", script] });
const cpu = (amount: string) => ({ requests: { cpu: amount }, limits: { cpu: amount } });
const asks = (amount: string, more: Partial<core.Container> = {}): Partial<core.PodSpec> => ({
  containers: [c({ resources: cpu(amount), ...more })],
});
const sidecar = (more: Partial<core.Container> = {}) => c({ name: "s", restartPolicy: "Always", ...more });
const running = (more: object = {}) => ({ name: "c", state: { running: {} }, ready: true, started: true, ...more });
const ended = (exitCode: number, more: object = {}) => ({
  name: "c",
  state: { terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error" } },
  ready: false,
  ...more,
});
const waiting = (reason: string, more: object = {}) => ({ name: "c", state: { waiting: { reason } }, ...more });
const status = (phase: string, more: object = {}) => ({ status: { phase, ...more } });
const rejected = (reason: string, message: string) =>
  status("Failed", { reason, message: `Pod was rejected: ${message}` });
const condition = (type: string, is: string, more: object = {}) =>
  expect.arrayContaining([expect.objectContaining({ type, status: is, ...more })]);

const podOf = (name: string, { spec, annotations = {}, metadata = {} }: Partial<Row> = {}): core.Pod => ({
  metadata: {
    name,
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [`simulated.k8ts.io/${key}`, value]),
    ),
    ...metadata,
  },
  spec: { nodeName: "node-1", automountServiceAccountToken: false, containers: [c()], ...spec },
});
const other = (name: string, spec: Partial<core.PodSpec>) => (node: TestNode) => node.create(podOf(name, { spec }));
const pods = ({ client }: TestNode) => client.of(kinds.Pod).in("default");
const remove = (name: string, gracePeriodSeconds?: number) => (node: TestNode) =>
  pods(node).delete(name, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds });
const resizeTo = (amount: string) => (node: TestNode) =>
  pods(node)
    .subresource("p", "resize")
    .patch({ type: "strategic", object: { spec: { containers: [{ name: "c", resources: cpu(amount) }] } } });
const taint = (effect: "NoExecute" | "NoSchedule") => async (node: TestNode) => {
  const object = { spec: { taints: [{ key: "down", effect }] } };
  await node.client.of(kinds.Node).patch("node-1", { type: "merge", object });
  // A kubelet reads its Node every 10 s.
  await node.clock.advance(11_000);
};
const allocated = (amount: string) => ({
  allocatedResources: { cpu: amount },
  resources: { requests: { cpu: amount }, limits: { cpu: amount } },
});
const pendingResize = (reason: string, message: string) => condition("PodResizePending", "True", { reason, message });

const ROWS: readonly Row[] = [
  // Admission
  {
    name: "admission: too little CPU",
    spec: asks("3"),
    steps: [
      {
        want: rejected("OutOfcpu", "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000"),
      },
      { do: remove("p"), want: null },
    ],
  },
  {
    name: "admission: too little CPU beside another Pod",
    before: other("o", asks("1500m")),
    spec: asks("1"),
    steps: [
      {
        want: rejected(
          "OutOfcpu",
          "Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000",
        ),
      },
    ],
  },
  {
    name: "admission: what a finished Pod used is free again",
    before: async (node) => {
      await node.create(
        podOf("o", { spec: { restartPolicy: "Never", containers: [c({ command: ["true"], resources: cpu("2") })] } }),
      );
      await node.clock.advance(5_000);
    },
    spec: asks("2"),
    steps: [{ want: status("Running") }],
  },
  {
    name: "admission: too many Pods",
    before: async (node) => {
      for (const name of ["a", "b", "d", "e", "f"]) await other(name, {})(node);
    },
    steps: [
      { want: rejected("OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 5, capacity: 5") },
    ],
  },
  {
    name: "admission: a resource that the node does not know, and which may be the cluster's",
    spec: { containers: [c({ resources: { limits: { "example.com/gpu": "1" } } })] },
    steps: [{ want: status("Running") }],
  },
  {
    name: "admission: a node selector",
    spec: { nodeSelector: { disk: "fast" } },
    steps: [
      {
        want: rejected(
          "NodeAffinity",
          "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        ),
      },
    ],
  },
  {
    name: "admission: required node affinity",
    spec: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: "kubernetes.io/os", operator: "NotIn", values: ["linux"] }] },
            ],
          },
        },
      },
    },
    steps: [{ want: status("Failed", { reason: "NodeAffinity" }) }],
  },
  {
    name: "admission: a host port that is taken on any address",
    before: other("o", { containers: [c({ ports: [{ containerPort: 80, hostPort: 8080 }] })] }),
    spec: { containers: [c({ ports: [{ containerPort: 80, hostPort: 8080, hostIP: "127.0.0.1" }] })] },
    steps: [
      {
        want: rejected(
          "NodePorts",
          "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        ),
      },
    ],
  },
  {
    name: "admission: a NoExecute taint",
    before: taint("NoExecute"),
    steps: [
      {
        want: rejected(
          "TaintToleration",
          "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
        ),
      },
    ],
  },
  {
    name: "admission: a NoExecute taint that is tolerated",
    before: taint("NoExecute"),
    spec: { tolerations: [{ key: "down", operator: "Exists" }] },
    steps: [{ want: status("Running") }],
  },
  {
    name: "admission: a NoSchedule taint is the scheduler's",
    before: taint("NoSchedule"),
    steps: [{ want: status("Running") }],
  },
  {
    name: "admission: a sysctl that is not safe",
    spec: { securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } },
    steps: [{ want: rejected("SysctlForbidden", 'forbidden sysctl: "kernel.msgmax" not allowlisted') }],
  },
  {
    name: "admission: another operating system",
    spec: { os: { name: "windows" } },
    steps: [{ want: rejected("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS") }],
  },

  // A Pod that runs
  {
    name: "a Pod is Pending first",
    annotations: { "start-delay": "5s" },
    steps: [
      {
        want: status("Pending", {
          hostIP: "172.30.0.2",
          containerStatuses: [waiting("ContainerCreating", { restartCount: 0, ready: false })],
          conditions: condition("ContainersReady", "False", {
            reason: "ContainersNotReady",
            message: "containers with unready status: [c]",
          }),
        }),
      },
      { seconds: 6, want: status("Running") },
    ],
  },
  {
    name: "fields of the status",
    spec: { containers: [c({ resources: { requests: { cpu: "100m" }, limits: { cpu: "200m", memory: "1Mi" } } })] },
    steps: [
      {
        want: status("Running", {
          observedGeneration: 1,
          hostIP: "172.30.0.2",
          hostIPs: [{ ip: "172.30.0.2" }],
          podIP: expect.stringMatching(/^10\./),
          podIPs: [{ ip: expect.stringMatching(/^10\./) }],
          qosClass: "Burstable",
          startTime: expect.any(String),
          containerStatuses: [
            running({
              image: "img:1",
              imageID: expect.stringContaining("img"),
              containerID: expect.stringMatching(/^simulated:\/\//),
              restartCount: 0,
              lastState: {},
              allocatedResources: { cpu: "100m", memory: "1Mi" },
            }),
          ],
        }),
      },
    ],
  },
  {
    name: "conditions of a Pod that runs",
    steps: [
      {
        want: {
          status: {
            conditions: [
              { type: "PodReadyToStartContainers", status: "True", observedGeneration: 1 },
              { type: "Initialized", status: "True" },
              { type: "Ready", status: "True" },
              { type: "ContainersReady", status: "True" },
              { type: "PodScheduled", status: "True" },
            ],
          },
        },
      },
    ],
  },
  {
    name: "BestEffort and Guaranteed",
    spec: { containers: [c({ resources: { limits: { cpu: "1", memory: "1Mi" } } })] },
    steps: [{ want: status("Running", { qosClass: "Guaranteed" }) }],
  },
  {
    name: "the node's network",
    spec: { hostNetwork: true },
    steps: [{ want: status("Running", { podIP: "172.30.0.2", podIPs: [{ ip: "172.30.0.2" }] }) }],
  },
  {
    name: "readiness gates",
    spec: { readinessGates: [{ conditionType: "example.com/open" }] },
    steps: [
      {
        want: status("Running", {
          conditions: condition("Ready", "False", {
            reason: "ReadinessGatesNotReady",
            message: 'corresponding condition of pod readiness gate "example.com/open" does not exist.',
          }),
        }),
      },
      {
        do: (node) =>
          pods(node)
            .subresource("p", "status")
            .patch({
              type: "strategic",
              object: { status: { conditions: [{ type: "example.com/open", status: "True" }] } },
            }),
        want: status("Running", { conditions: condition("Ready", "True") }),
      },
    ],
  },
  {
    name: "a readiness probe",
    spec: { containers: [c({ readinessProbe: { exec: { command: ["true"] }, initialDelaySeconds: 5 } })] },
    steps: [
      { want: status("Running", { containerStatuses: [running({ ready: false })] }) },
      { seconds: 5, want: status("Running", { containerStatuses: [running()] }) },
    ],
  },
  {
    name: "a readiness probe that fails",
    spec: { containers: [c({ readinessProbe: { exec: { command: ["false"] } } })] },
    steps: [
      { seconds: 60, want: status("Running", { containerStatuses: [running({ ready: false, restartCount: 0 })] }) },
    ],
  },
  {
    name: "a startup probe",
    spec: { containers: [c({ startupProbe: { exec: { command: ["true"] }, initialDelaySeconds: 3 } })] },
    steps: [
      { want: status("Running", { containerStatuses: [running({ ready: false, started: false })] }) },
      { seconds: 3, want: status("Running", { containerStatuses: [running()] }) },
    ],
  },
  {
    name: "a liveness probe that fails",
    spec: { containers: [c({ livenessProbe: { exec: { command: ["false"] }, periodSeconds: 1 } })] },
    steps: [
      { seconds: 2, want: status("Running", { containerStatuses: [running({ restartCount: 0 })] }) },
      { seconds: 10 },
    ],
    differs: {
      because:
        "a fleet runs no probes: thousands of nodes would do little else. Only how long they take to pass is simulated",
      fields: ["containerStatuses", "conditions"],
    },
  },
  {
    name: "a ConfigMap that is missing",
    spec: { containers: [c({ env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "a" } } }] })] },
    steps: [{ seconds: 3 }],
    differs: {
      because: "a fleet reads no ConfigMaps, Secrets and volumes: there are no containers to give them to",
      fields: ["phase", "containerStatuses", "conditions"],
    },
  },

  // Restarts
  {
    name: "restartPolicy Always: ended well",
    spec: { containers: [sh("sleep 2")] },
    steps: [
      { want: status("Running", { containerStatuses: [running({ restartCount: 0 })] }) },
      {
        seconds: 2,
        want: status("Running", {
          containerStatuses: [
            running({ restartCount: 1, lastState: { terminated: { exitCode: 0, reason: "Completed" } } }),
          ],
        }),
      },
    ],
  },
  {
    name: "crashes: again at once, then after 10 s, then after 20 s",
    spec: { containers: [sh("sleep 1; exit 3")] },
    steps: [
      {
        seconds: 5,
        want: status("Running", {
          containerStatuses: [
            waiting("CrashLoopBackOff", {
              restartCount: 1,
              ready: false,
              lastState: { terminated: { exitCode: 3, reason: "Error" } },
            }),
          ],
        }),
      },
      {
        seconds: 15,
        want: status("Running", { containerStatuses: [waiting("CrashLoopBackOff", { restartCount: 2 })] }),
      },
      {
        seconds: 20,
        want: status("Running", { containerStatuses: [waiting("CrashLoopBackOff", { restartCount: 3 })] }),
      },
    ],
  },
  {
    name: "restartPolicy OnFailure: ended well",
    spec: { restartPolicy: "OnFailure", containers: [sh("sleep 2")] },
    steps: [{ seconds: 5, want: status("Succeeded", { containerStatuses: [ended(0, { restartCount: 0 })] }) }],
  },
  {
    name: "restartPolicy OnFailure: failed",
    spec: { restartPolicy: "OnFailure", containers: [sh("sleep 2; exit 1")] },
    steps: [{ seconds: 3, want: status("Running", { containerStatuses: [running({ restartCount: 1 })] }) }],
  },
  {
    name: "restartPolicy Never: ended well",
    spec: { restartPolicy: "Never", containers: [sh("sleep 2")] },
    steps: [
      {
        seconds: 5,
        want: status("Succeeded", {
          containerStatuses: [ended(0)],
          conditions: condition("Ready", "False", { reason: "PodCompleted" }),
        }),
      },
    ],
  },
  {
    name: "restartPolicy Never: failed",
    spec: { restartPolicy: "Never", containers: [sh("sleep 2; exit 7")] },
    steps: [
      {
        seconds: 5,
        want: status("Failed", {
          containerStatuses: [ended(7)],
          conditions: condition("ContainersReady", "False", { reason: "PodFailed" }),
        }),
      },
    ],
  },
  {
    name: "restartPolicy Never: one fails, one ends well, one still runs",
    spec: { restartPolicy: "Never", containers: [sh("exit 1", "a"), sh("exit 0", "b"), sh("sleep 20")] },
    steps: [{ want: status("Running") }, { seconds: 30, want: status("Failed") }],
  },
  {
    name: "rules of a container: restart on some exit codes",
    spec: {
      restartPolicy: "Never",
      containers: [
        {
          ...sh("sleep 2; exit 42"),
          restartPolicy: "Never",
          restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
        },
      ],
    },
    steps: [{ seconds: 3, want: status("Running", { containerStatuses: [running({ restartCount: 1 })] }) }],
  },
  {
    name: "an exit reason",
    spec: { restartPolicy: "Never", containers: [sh("sleep 1; exit 137")] },
    annotations: { "exit-reason": "OOMKilled" },
    steps: [
      {
        seconds: 3,
        want: status("Failed", {
          containerStatuses: [{ state: { terminated: { exitCode: 137, reason: "OOMKilled" } } }],
        }),
      },
    ],
  },
  {
    name: "another image in a running Pod",
    steps: [
      { want: status("Running", { containerStatuses: [running({ image: "img:1" })] }) },
      {
        do: (node) =>
          pods(node).patch("p", {
            type: "strategic",
            object: { spec: { containers: [{ name: "c", image: "img:2" }] } },
          }),
        seconds: 2,
        want: status("Running", {
          observedGeneration: 2,
          containerStatuses: [
            running({ image: "img:2", restartCount: 1, lastState: { terminated: { exitCode: 143 } } }),
          ],
        }),
      },
    ],
  },

  // Images
  {
    name: "an image that cannot be pulled",
    annotations: { "fail-pull": "always" },
    steps: [
      {
        want: status("Pending", {
          containerStatuses: [
            { state: { waiting: { reason: expect.stringMatching(/ErrImagePull|ImagePullBackOff/) } } },
          ],
        }),
        notCompared: "a kubelet has looked twice already, for its sandbox has just started: ImagePullBackOff",
      },
      { seconds: 13, want: status("Pending", { containerStatuses: [waiting("ErrImagePull")] }) },
      {
        seconds: 10,
        want: status("Pending", {
          containerStatuses: [
            {
              state: {
                waiting: {
                  reason: "ImagePullBackOff",
                  message: expect.stringMatching(/^Back-off pulling image "img:1": ErrImagePull: /),
                },
              },
            },
          ],
        }),
      },
      { seconds: 10, want: status("Pending", { containerStatuses: [waiting("ErrImagePull")] }) },
    ],
  },
  {
    name: "an image that can be pulled at the third attempt",
    annotations: { "fail-pull": "2" },
    steps: [
      { seconds: 25, want: status("Pending", { containerStatuses: [waiting("ImagePullBackOff")] }) },
      { seconds: 10, want: status("Running", { containerStatuses: [running({ restartCount: 0 })] }) },
    ],
  },

  // Init containers and sidecars
  {
    name: "init containers, one after the other",
    spec: { initContainers: [sh("sleep 5", "i"), sh("sleep 5", "j")] },
    steps: [
      {
        seconds: 2,
        want: status("Pending", {
          initContainerStatuses: [{ state: { running: {} } }, waiting("PodInitializing", { name: "j" })],
          containerStatuses: [waiting("PodInitializing")],
          conditions: condition("Initialized", "False", {
            reason: "ContainersNotInitialized",
            message: "containers with incomplete status: [i j]",
          }),
        }),
      },
      {
        seconds: 5,
        want: status("Pending", {
          initContainerStatuses: [{ ready: true, state: { terminated: { exitCode: 0 } } }, { state: { running: {} } }],
        }),
      },
      { seconds: 5, want: status("Running", { conditions: condition("Initialized", "True") }) },
    ],
  },
  {
    name: "an init container that fails for good",
    spec: { restartPolicy: "Never", initContainers: [sh("exit 1", "i")] },
    steps: [
      {
        seconds: 3,
        want: status("Failed", {
          initContainerStatuses: [ended(1, { name: "i" })],
          containerStatuses: [waiting("PodInitializing")],
        }),
      },
    ],
  },
  {
    name: "an init container that fails and is tried again",
    spec: { restartPolicy: "OnFailure", initContainers: [sh("sleep 1; exit 1", "i")] },
    steps: [
      {
        seconds: 5,
        want: status("Pending", {
          initContainerStatuses: [waiting("CrashLoopBackOff", { name: "i", restartCount: 1 })],
        }),
      },
    ],
  },
  {
    name: "a sidecar starts first and counts for readiness",
    spec: { initContainers: [sidecar({ readinessProbe: { exec: { command: ["false"] } } })] },
    steps: [
      {
        want: status("Running", {
          initContainerStatuses: [{ state: { running: {} }, ready: false, started: true }],
          containerStatuses: [running()],
          conditions: condition("ContainersReady", "False", { message: "containers with unready status: [s]" }),
        }),
      },
    ],
  },
  {
    name: "others wait for a sidecar's startup probe",
    spec: { initContainers: [sidecar({ startupProbe: { exec: { command: ["true"] }, initialDelaySeconds: 5 } })] },
    steps: [
      { seconds: 2, want: status("Pending", { containerStatuses: [waiting("PodInitializing")] }) },
      { seconds: 5, want: status("Running", { containerStatuses: [running()] }) },
    ],
  },
  {
    name: "sidecars stop when the others are done",
    spec: { restartPolicy: "Never", initContainers: [sidecar()], containers: [sh("sleep 3")] },
    annotations: { "stop-delay.s": "5s" },
    steps: [
      {
        seconds: 5,
        want: status("Running", { initContainerStatuses: [{ state: { running: {} } }], containerStatuses: [ended(0)] }),
      },
      {
        seconds: 5,
        want: status("Succeeded", {
          initContainerStatuses: [ended(143, { name: "s" })],
          containerStatuses: [ended(0)],
          conditions: condition("PodReadyToStartContainers", "False"),
        }),
      },
    ],
  },
  {
    name: "a sidecar that ends is restarted",
    spec: { initContainers: [sidecar({ command: ["sleep", "3"] })] },
    steps: [
      { seconds: 5, want: status("Running", { initContainerStatuses: [{ restartCount: 1, state: { running: {} } }] }) },
    ],
  },
  {
    name: "an ephemeral container",
    steps: [
      { want: status("Running") },
      {
        do: (node) =>
          pods(node)
            .subresource("p", "ephemeralcontainers")
            .patch({ type: "strategic", object: { spec: { ephemeralContainers: [{ name: "debug", image: "i:1" }] } } }),
        want: status("Running", {
          ephemeralContainerStatuses: [{ name: "debug", ready: false, state: { running: {} } }],
        }),
      },
    ],
  },

  // Ends
  {
    name: "deletion: SIGTERM, then gone",
    annotations: { "stop-delay": "5s" },
    steps: [
      { want: status("Running") },
      {
        do: remove("p"),
        seconds: 3,
        want: {
          metadata: { deletionTimestamp: expect.any(String) },
          status: { phase: "Running", observedGeneration: 2, containerStatuses: [running()] },
        },
      },
      { seconds: 3, want: null },
    ],
  },
  {
    name: "deletion: SIGKILL when the grace period is over",
    metadata: { finalizers: ["example.com/hold"] },
    annotations: { "stop-delay": "1h" },
    steps: [
      { want: status("Running") },
      { do: remove("p", 10), seconds: 9, want: status("Running") },
      { seconds: 3, want: status("Failed", { containerStatuses: [ended(137)] }) },
    ],
  },
  {
    name: "deletion: a shorter grace period later",
    metadata: { finalizers: ["example.com/hold"] },
    annotations: { "stop-delay": "1h" },
    steps: [
      { want: status("Running") },
      { do: remove("p", 60), seconds: 10, want: status("Running") },
      { do: remove("p", 5), seconds: 4, want: status("Running") },
      { seconds: 3, want: status("Failed", { containerStatuses: [ended(137)] }) },
    ],
  },
  {
    name: "deletion: sidecars get SIGTERM after the others, the last one first; reported once, at the end",
    metadata: { finalizers: ["example.com/hold"] },
    spec: { initContainers: [sidecar({ name: "s" }), sidecar({ name: "t" })] },
    annotations: { "stop-delay.c": "4s", "stop-delay.s": "4s", "stop-delay.t": "4s" },
    steps: [
      { want: status("Running") },
      {
        do: remove("p"),
        seconds: 10,
        want: status("Running", {
          initContainerStatuses: [{ state: { running: {} } }, { state: { running: {} } }],
          containerStatuses: [running()],
        }),
      },
      {
        seconds: 4,
        want: status("Failed", {
          containerStatuses: [{ state: { terminated: { exitCode: 143, finishedAt: "2030-01-01T00:00:07Z" } } }],
          initContainerStatuses: [
            { name: "s", state: { terminated: { exitCode: 143, finishedAt: "2030-01-01T00:00:15Z" } } },
            { name: "t", state: { terminated: { exitCode: 143, finishedAt: "2030-01-01T00:00:11Z" } } },
          ],
        }),
      },
    ],
  },
  {
    name: "deletion before anything runs",
    annotations: { "start-delay": "60s" },
    steps: [{ want: status("Pending") }, { do: remove("p"), seconds: 3, want: null }],
  },
  {
    name: "deletion of a Pod that has finished waits for finalizers",
    metadata: { finalizers: ["example.com/hold"] },
    spec: { restartPolicy: "Never", containers: [runs("true")] },
    steps: [
      { seconds: 3, want: status("Succeeded") },
      { do: remove("p"), seconds: 3, want: status("Succeeded") },
      {
        do: (node) => pods(node).patch("p", { type: "merge", object: { metadata: { finalizers: null } } }),
        want: null,
      },
    ],
  },
  {
    name: "activeDeadlineSeconds",
    spec: { activeDeadlineSeconds: 5 },
    steps: [
      { want: status("Running") },
      {
        seconds: 10,
        want: status("Failed", {
          reason: "DeadlineExceeded",
          message: "Pod was active on the node longer than the specified deadline",
          containerStatuses: [ended(143)],
        }),
      },
    ],
  },

  // Resize
  {
    name: "resize: done in place",
    spec: asks("500m"),
    steps: [
      { want: status("Running", { containerStatuses: [running(allocated("500m"))] }) },
      {
        do: resizeTo("1"),
        seconds: 3,
        want: status("Running", {
          observedGeneration: 2,
          containerStatuses: [running({ ...allocated("1"), restartCount: 0 })],
          resources: { requests: { cpu: "1" } },
        }),
      },
    ],
  },
  {
    name: "resize: needs a restart",
    spec: asks("500m", { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] }),
    steps: [
      { want: status("Running") },
      {
        do: resizeTo("1"),
        seconds: 3,
        want: status("Running", { containerStatuses: [running({ ...allocated("1"), restartCount: 1 })] }),
      },
    ],
  },
  {
    name: "resize: infeasible",
    spec: asks("500m"),
    steps: [
      { want: status("Running") },
      {
        do: async (node) => {
          // The API server refuses what is more than the Node's allocatable; a node trusts only itself.
          const object = { status: { allocatable: { cpu: "8" } } };
          await node.client.of(kinds.Node).subresource("node-1", "status").patch({ type: "merge", object });
          await resizeTo("4")(node);
        },
        seconds: 3,
        want: status("Running", {
          containerStatuses: [running({ ...allocated("500m"), restartCount: 0 })],
          conditions: pendingResize(
            "Infeasible",
            "Node didn't have enough capacity: cpu, requested: 4000, capacity: 2000",
          ),
        }),
      },
    ],
  },
  {
    name: "resize: deferred until another Pod is gone",
    before: other("o", asks("1")),
    spec: asks("500m"),
    steps: [
      { want: status("Running") },
      {
        do: resizeTo("1500m"),
        seconds: 3,
        want: status("Running", {
          containerStatuses: [running(allocated("500m"))],
          conditions: pendingResize(
            "Deferred",
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
          ),
        }),
      },
      {
        do: remove("o"),
        // A kubelet tries again with its next look at the Pod.
        seconds: 65,
        want: status("Running", { containerStatuses: [running({ ...allocated("1500m"), restartCount: 0 })] }),
      },
    ],
  },
  {
    name: "resize: still deferred after a restart of the node",
    before: other("o", asks("1")),
    spec: asks("500m"),
    steps: [
      { want: status("Running") },
      { do: resizeTo("1500m"), seconds: 3, want: status("Running") },
      {
        do: (node) => node.restart(),
        seconds: 3,
        want: status("Running", {
          containerStatuses: [running(allocated("500m"))],
          conditions: pendingResize(
            "Deferred",
            "Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
          ),
        }),
      },
    ],
  },

  // Restarts of the node
  {
    name: "a node that starts again adopts what runs",
    steps: [
      { want: status("Running") },
      {
        do: (node) => node.restart(),
        seconds: 3,
        want: status("Running", { containerStatuses: [running({ restartCount: 0 })] }),
      },
    ],
  },
];

/** Without what cannot be the same: times, ids, addresses, and what the row leaves out. */
function comparable(pod: core.Pod | undefined, left: readonly string[]): unknown {
  const dropped = /^(.*Time|startedAt|finishedAt|containerID|imageID|podIPs?)$/;
  const keep = (key: string, value: unknown) => (dropped.test(key) || left.includes(key) ? undefined : value);
  return JSON.parse(JSON.stringify(pod?.status ?? null, keep));
}

/** What the row's Pod looked like after each step. */
async function play(kind: NodeKind, row: Row): Promise<readonly unknown[]> {
  const node = await testNode(kind);
  try {
    await row.before?.(node);
    await node.create(podOf("p", row));
    const seen: unknown[] = [];
    for (const [at, { do: act, seconds = 1, want, notCompared }] of row.steps.entries()) {
      await act?.(node);
      await node.clock.advance(seconds * 1_000);
      const pod = await node.get("p");
      if (want === null) expect(pod, `${kind}, step ${at + 1}`).toBeUndefined();
      else if (want !== undefined) expect(pod, `${kind}, step ${at + 1}`).toMatchObject(want);
      if (notCompared === undefined) seen.push(comparable(pod, row.differs?.fields ?? []));
    }
    return seen;
  } finally {
    await node.close();
  }
}

describe("a Pod on a kubelet and on a node of a fleet", () => {
  it.each(ROWS)("$name", async (row) => {
    const [kubelet, fleet] = [await play("kubelet", row), await play("fleet", row)];
    expect(fleet).toEqual(kubelet);
  });
});

describe.each(KINDS)("the Node of a %s", (kind) => {
  it("has labels, addresses, capacity, conditions and a version", async () => {
    const node = await testNode(kind);
    const { metadata, status: found } = await node.node();
    expect(metadata).toMatchObject({
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "node-1",
        "kubernetes.io/os": "linux",
      },
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    });
    expect(found).toMatchObject({
      addresses: [
        { type: "InternalIP", address: "172.30.0.2" },
        { type: "Hostname", address: "node-1" },
      ],
      conditions: [
        { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory" },
        { type: "DiskPressure", status: "False", reason: "KubeletHasNoDiskPressure" },
        { type: "PIDPressure", status: "False", reason: "KubeletHasSufficientPID" },
        { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
      ],
      nodeInfo: { kubeletVersion: "v1.36.4", operatingSystem: "linux", architecture: "amd64" },
    });
    for (const amounts of [found?.capacity, found?.allocatable])
      for (const [name, amount] of Object.entries({ cpu: "2", memory: "4Gi", "ephemeral-storage": "100Gi", pods: "5" }))
        expect(compareQuantities(parseQuantity(amounts?.[name] ?? "0"), parseQuantity(amount)), name).toBe(0);
    // A fleet has no server of its own: the API server must not look for one.
    expect(found?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(kind === "kubelet" ? 10250 : 0);
    await node.close();
  });

  it("has a Lease, renewed every 10 s, and writes its status every 5 minutes", async () => {
    const node = await testNode(kind);
    const first = await node.node();
    expect(await node.lease()).toMatchObject({
      metadata: { ownerReferences: [{ kind: "Node", name: "node-1", uid: first.metadata.uid }] },
      spec: { holderIdentity: "node-1", leaseDurationSeconds: 40 },
    });
    await node.clock.advance(60_000);
    const { spec } = await node.lease();
    expect(node.clock.now() - Date.parse(spec?.renewTime ?? "")).toBeLessThan(11_000);
    await node.clock.advance(300_000);
    const ready = ({ status: { conditions = [] } = {} }: core.Node) => conditions.find(({ type }) => type === "Ready");
    const later = ready(await node.node());
    expect(later?.lastTransitionTime).toBe(ready(first)?.lastTransitionTime);
    expect(later?.lastHeartbeatTime).not.toBe(ready(first)?.lastHeartbeatTime);
    await node.close();
  });

  it("makes extended resources allocatable that others add to its capacity, and labels stay", async () => {
    const node = await testNode(kind);
    const nodes = node.client.of(kinds.Node);
    const setGpus = async (gpus: string | null) => {
      const object = { status: { capacity: { "example.com/gpu": gpus } } };
      await nodes.subresource("node-1", "status").patch({ type: "merge", object });
      await node.clock.advance(11_000);
      return (await node.node()).status?.allocatable?.["example.com/gpu"];
    };
    await nodes.patch("node-1", { type: "merge", object: { metadata: { labels: { zone: "a" } } } });
    expect(await setGpus("4")).toBe("4");
    expect(await setGpus(null)).toBeUndefined();
    await node.restart();
    expect((await node.node()).metadata.labels).toMatchObject({ zone: "a", "kubernetes.io/os": "linux" });
    await node.close();
  });

  it("is Ready again soon after others have doubted it", async () => {
    const node = await testNode(kind);
    const { conditions = [] } = (await node.node()).status ?? {};
    const object = { status: { conditions: conditions.map((each) => ({ ...each, status: "Unknown" })) } };
    await node.client.of(kinds.Node).subresource("node-1", "status").patch({ type: "merge", object });
    await node.clock.advance(11_000);
    expect((await node.node()).status?.conditions?.map((each) => each.status)).toEqual([
      "False",
      "False",
      "False",
      "True",
    ]);
    await node.close();
  });

  // A kubelet registers again, for a restored snapshot may lack its Node. A node of a fleet stays deleted, as upstream.
  it(`${kind === "kubelet" ? "comes back" : "stays away"} after it was deleted`, async () => {
    const node = await testNode(kind);
    await node.client.of(kinds.Node).delete("node-1");
    await node.clock.advance(30_000);
    const { items } = await node.client.of(kinds.Node).list();
    expect(items).toHaveLength(kind === "kubelet" ? 1 : 0);
    await node.close();
  });
});
