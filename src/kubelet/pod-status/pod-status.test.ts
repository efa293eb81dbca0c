/**
 * Each row names the documented rule that it checks: "Pod Lifecycle", "Sidecar Containers", "Init Containers" of the
 * Kubernetes documentation.
 */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { crashLoopBackOff } from "./messages.ts";
import type { ObservedPod } from "./observed.ts";
import { podStatus, rejectedStatus } from "./pod-status.ts";
import { exited, instance, NOW, podOf, running, seen, THEN } from "./testing/build.ts";

const two = [
  { name: "a", image: "img" },
  { name: "b", image: "img" },
];
const init = { name: "i", image: "img" };
const sidecar = { name: "s", image: "img", restartPolicy: "Always" };
const backoff = crashLoopBackOff(podOf(), "c", 10_000);

describe("phase", () => {
  it.each<[rule: string, spec: Partial<core.PodSpec>, observed: ObservedPod, phase: string]>([
    ["nothing has been started yet", {}, seen(), "Pending"],
    ["one of two containers has not been started", { containers: two }, seen({ a: running() }), "Pending"],
    [
      "all containers have been started, one runs",
      { containers: two },
      seen({ a: running(), b: exited(1) }),
      "Running",
    ],
    ["all ended, Always restarts them", {}, seen({ c: exited(0) }), "Running"],
    ["waiting for the next restart", {}, seen({ c: { ...exited(1), waiting: backoff } }), "Running"],
    ["ended with 0, OnFailure", { restartPolicy: "OnFailure" }, seen({ c: exited(0) }), "Succeeded"],
    ["ended with 1, OnFailure restarts it", { restartPolicy: "OnFailure" }, seen({ c: exited(1) }), "Running"],
    ["ended with 0, Never", { restartPolicy: "Never" }, seen({ c: exited(0) }), "Succeeded"],
    ["ended with 1, Never", { restartPolicy: "Never" }, seen({ c: exited(1) }), "Failed"],
    [
      "at least one container terminated in failure",
      { restartPolicy: "Never", containers: two },
      seen({ a: exited(0), b: exited(3) }),
      "Failed",
    ],
    ["an init container is at work", { initContainers: [init] }, seen({ i: running() }), "Pending"],
    ["init containers are done", { initContainers: [init] }, seen({ i: exited(0), c: running() }), "Running"],
    [
      "an init container failed and Never restarts it",
      { initContainers: [init], restartPolicy: "Never" },
      seen({ i: exited(1) }),
      "Failed",
    ],
    ["an init container failed and restarts", { initContainers: [init] }, seen({ i: exited(1) }), "Pending"],
    [
      "a sidecar that has not started holds the others",
      { initContainers: [sidecar] },
      seen({ s: { ...running(), started: false } }),
      "Pending",
    ],
    [
      "a sidecar runs beside the others",
      { initContainers: [sidecar] },
      seen({ s: running(), c: running() }),
      "Running",
    ],
    [
      "a sidecar that restarts does not bring the Pod back to Pending",
      { initContainers: [sidecar] },
      seen({ s: { ...running(1), started: false }, c: running() }),
      "Running",
    ],
    [
      "sidecars do not keep a Job from completing",
      { initContainers: [sidecar], restartPolicy: "Never" },
      seen({ s: exited(137), c: exited(0) }),
      "Succeeded",
    ],
    [
      "a container's own rule restarts it under Never",
      {
        restartPolicy: "Never",
        containers: [
          {
            name: "c",
            image: "img",
            restartPolicy: "Never",
            restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
          },
        ],
      },
      seen({ c: exited(42) }),
      "Running",
    ],
    ["nothing is started again once it is over", {}, seen({ c: exited(0) }, { isOver: true }), "Succeeded"],
    ["and one that failed has failed", {}, seen({ c: exited(137) }, { isOver: true }), "Failed"],
    [
      "past its deadline, nothing runs any more",
      {},
      seen({ c: exited(137) }, { failure: { reason: "DeadlineExceeded", message: "" } }),
      "Failed",
    ],
    [
      "a final phase waits until nothing runs",
      {},
      seen({ c: running() }, { failure: { reason: "DeadlineExceeded", message: "" }, previous: { phase: "Running" } }),
      "Running",
    ],
    ["a final phase is never left", {}, seen({ c: running() }, { previous: { phase: "Succeeded" } }), "Succeeded"],
  ])("%s", (_, spec, observed, phase) => {
    expect(podStatus(podOf(spec), observed, NOW).phase).toBe(phase);
  });

  it("keeps the reason with the phase; a failure has its own", () => {
    const failure = {
      reason: "DeadlineExceeded",
      message: "Pod was active on the node longer than the specified deadline",
    };
    const failed = podStatus(podOf(), seen({ c: exited(137) }, { failure }), NOW);
    expect(failed).toMatchObject({ phase: "Failed", ...failure });
    const again = podStatus(podOf({}, failed), seen({ c: exited(137) }), NOW);
    expect(again).toMatchObject({ phase: "Failed", ...failure });
  });
});

describe("conditions", () => {
  const gates = { readinessGates: [{ conditionType: "example.com/open" }] };
  const gate = (status: string): core.PodStatus => ({ conditions: [{ type: "example.com/open", status }] });

  it.each<[rule: string, pod: core.Pod, observed: ObservedPod, type: string, want: object]>([
    [
      "containers that are not ready are named",
      podOf({ containers: two }),
      seen({ a: running() }),
      "ContainersReady",
      { status: "False", reason: "ContainersNotReady", message: "containers with unready status: [b]" },
    ],
    [
      "and Ready says the same",
      podOf({ containers: two }),
      seen(),
      "Ready",
      { status: "False", reason: "ContainersNotReady", message: "containers with unready status: [a b]" },
    ],
    [
      "a readiness probe that fails",
      podOf(),
      seen({ c: { ...running(), ready: false } }),
      "Ready",
      { status: "False", reason: "ContainersNotReady", message: "containers with unready status: [c]" },
    ],
    ["all are ready", podOf(), seen({ c: running() }), "Ready", { status: "True" }],
    [
      "sidecars count",
      podOf({ initContainers: [sidecar] }),
      seen({ s: { ...running(), ready: false }, c: running() }),
      "ContainersReady",
      { status: "False", message: "containers with unready status: [s]" },
    ],
    [
      "a readiness gate that nobody has set",
      podOf(gates),
      seen({ c: running() }),
      "Ready",
      {
        status: "False",
        reason: "ReadinessGatesNotReady",
        message: 'corresponding condition of pod readiness gate "example.com/open" does not exist.',
      },
    ],
    [
      "a readiness gate that is closed",
      podOf(gates, gate("False")),
      seen({ c: running() }),
      "Ready",
      { status: "False", message: 'the status of pod readiness gate "example.com/open" is not "True", but False' },
    ],
    ["a readiness gate that is open", podOf(gates, gate("True")), seen({ c: running() }), "Ready", { status: "True" }],
    [
      "which says nothing of the containers",
      podOf(gates, gate("False")),
      seen({ c: running() }),
      "ContainersReady",
      { status: "True" },
    ],
    [
      "init containers that are not done are named",
      podOf({ initContainers: [init, { name: "j", image: "img" }] }),
      seen({ i: exited(0) }),
      "Initialized",
      { status: "False", reason: "ContainersNotInitialized", message: "containers with incomplete status: [j]" },
    ],
    ["without init containers it is initialized", podOf(), seen(), "Initialized", { status: "True" }],
    [
      "a sidecar that restarts leaves it initialized",
      podOf({ initContainers: [sidecar] }),
      seen({ s: exited(1), c: running() }),
      "Initialized",
      { status: "True" },
    ],
    [
      "completed",
      podOf({ restartPolicy: "Never" }),
      seen({ c: exited(0) }),
      "Initialized",
      { status: "True", reason: "PodCompleted" },
    ],
    [
      "completed is not ready",
      podOf({ restartPolicy: "Never" }),
      seen({ c: exited(0) }),
      "Ready",
      { status: "False", reason: "PodCompleted" },
    ],
    [
      "failed is not ready",
      podOf({ restartPolicy: "Never" }),
      seen({ c: exited(1) }),
      "ContainersReady",
      { status: "False", reason: "PodFailed" },
    ],
    ["without a sandbox", podOf(), seen({}, { sandboxReady: false }), "PodReadyToStartContainers", { status: "False" }],
    ["with a sandbox", podOf(), seen(), "PodReadyToStartContainers", { status: "True" }],
    ["it has been scheduled", podOf(), seen(), "PodScheduled", { status: "True" }],
  ])("%s", (_, pod, observed, type, want) => {
    const condition = podStatus(pod, observed, NOW).conditions?.find((each) => each.type === type);
    expect(condition).toMatchObject({ ...want, observedGeneration: 3, lastTransitionTime: "2030-01-01T00:01:00Z" });
  });

  it("keep their time while their status stays, and others' conditions as they are", () => {
    const disruption = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" };
    const before: core.PodStatus = {
      conditions: [
        disruption,
        { type: "PodScheduled", status: "True", lastTransitionTime: THEN },
        { type: "Ready", status: "False", lastTransitionTime: THEN },
      ],
    };
    const { conditions = [] } = podStatus(podOf({}, before), seen({ c: running() }), NOW);
    expect(conditions.find(({ type }) => type === "PodScheduled")?.lastTransitionTime).toBe(THEN);
    expect(conditions.find(({ type }) => type === "Ready")?.lastTransitionTime).toBe("2030-01-01T00:01:00Z");
    expect(conditions[0]).toEqual(disruption);
    expect(conditions.map(({ type }) => type)).toEqual([
      "DisruptionTarget",
      "PodReadyToStartContainers",
      "Initialized",
      "Ready",
      "ContainersReady",
      "PodScheduled",
    ]);
  });
});

describe("container statuses", () => {
  const statusIn = (pod: core.Pod, observed: ObservedPod) => podStatus(pod, observed, NOW).containerStatuses?.[0];

  it.each<[rule: string, pod: core.Pod, observed: ObservedPod, want: object]>([
    ["not started yet", podOf(), seen(), { state: { waiting: { reason: "ContainerCreating" } }, ready: false }],
    [
      "waits for init containers",
      podOf({ initContainers: [init] }),
      seen({ i: running() }),
      { state: { waiting: { reason: "PodInitializing" } } },
    ],
    [
      "runs",
      podOf(),
      seen({ c: running() }),
      {
        state: { running: { startedAt: "2030-01-01T00:00:50Z" } },
        lastState: {},
        ready: true,
        started: true,
        restartCount: 0,
        containerID: "sim://1",
        image: "img:latest",
        imageID: "img@sha256:0",
        resources: {},
      },
    ],
    [
      "runs, its startup probe has not passed",
      podOf(),
      seen({ c: { ...running(), started: false } }),
      { ready: false, started: false },
    ],
    [
      "has ended",
      podOf({ restartPolicy: "Never" }),
      seen({ c: exited(2, { message: "oops" }) }),
      {
        state: {
          terminated: {
            exitCode: 2,
            reason: "Error",
            message: "oops",
            startedAt: "2030-01-01T00:00:50Z",
            finishedAt: "2030-01-01T00:00:59Z",
            containerID: "sim://1",
          },
        },
        ready: false,
        started: false,
      },
    ],
    [
      "waits for its restart: how it ended is its last state",
      podOf(),
      seen({ c: { ...exited(1, { restartCount: 2 }), waiting: backoff } }),
      {
        state: {
          waiting: {
            reason: "CrashLoopBackOff",
            message: "back-off 10s restarting failed container=c pod=web_default(u-1)",
          },
        },
        lastState: { terminated: { exitCode: 1 } },
        restartCount: 2,
      },
    ],
    [
      "does not wait if it will not be restarted",
      podOf({ restartPolicy: "Never" }),
      seen({ c: { ...exited(1), waiting: backoff } }),
      { state: { terminated: { exitCode: 1 } } },
    ],
    [
      "runs again",
      podOf(),
      seen({ c: { ...running(1), last: instance({ id: "sim://0", state: "exited", exitCode: 1, reason: "Error" }) } }),
      { state: { running: {} }, lastState: { terminated: { exitCode: 1, containerID: "sim://0" } }, restartCount: 1 },
    ],
    [
      "was seen to end, and its instance is gone: it stays as it was",
      podOf({ restartPolicy: "Never" }, podStatus(podOf({ restartPolicy: "Never" }), seen({ c: exited(0) }), NOW)),
      seen(),
      { state: { terminated: { exitCode: 0, containerID: "sim://1" } } },
    ],
    [
      "ran, and cannot be found any more",
      podOf({}, podStatus(podOf(), seen({ c: running() }), NOW)),
      seen(),
      {
        state: { waiting: { reason: "ContainerCreating" } },
        lastState: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
        restartCount: 1,
      },
    ],
    [
      "ran, and its runtime does not know",
      podOf({}, podStatus(podOf(), seen({ c: running() }), NOW)),
      seen({ c: { current: instance({ state: "unknown" }) } }),
      { state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } }, restartCount: 1 },
    ],
    [
      "mounts and resources",
      podOf({
        containers: [
          {
            name: "c",
            image: "img",
            resources: { requests: { cpu: "1" }, limits: { cpu: "2" } },
            volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true }],
          },
        ],
      }),
      seen({ c: running() }),
      {
        allocatedResources: { cpu: "1" },
        resources: { requests: { cpu: "1" }, limits: { cpu: "2" } },
        volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true, recursiveReadOnly: "Disabled" }],
      },
    ],
  ])("%s", (_, pod, observed, want) => {
    expect(statusIn(pod, observed)).toMatchObject(want);
  });

  it("init containers in the Pod's order, the others by name; ephemeral ones are never ready", () => {
    const pod = podOf({
      initContainers: [{ name: "z" }, { name: "y" }],
      containers: [{ name: "b" }, { name: "a" }],
      ephemeralContainers: [{ name: "debug", image: "img" }],
    });
    const status = podStatus(pod, seen({ z: exited(0), debug: running() }), NOW);
    expect(status.initContainerStatuses?.map(({ name, ready }) => [name, ready])).toEqual([
      ["z", true],
      ["y", false],
    ]);
    expect(status.containerStatuses?.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(status.ephemeralContainerStatuses).toMatchObject([{ name: "debug", ready: false, state: { running: {} } }]);
    expect(status.ephemeralContainerStatuses?.[0]).not.toHaveProperty("started");
  });

  it("an init container that nobody remembers has ended well once a regular one exists", () => {
    const { initContainerStatuses } = podStatus(podOf({ initContainers: [init] }), seen({ c: running() }), NOW);
    expect(initContainerStatuses).toMatchObject([{ state: { terminated: { exitCode: 0, reason: "Completed" } } }]);
  });
});

describe("the rest of the status", () => {
  it("addresses, generation, quality of service, start", () => {
    const pod = podOf({ containers: [{ name: "c", resources: { requests: { memory: "1Gi", cpu: "100m" } } }] });
    expect(podStatus(pod, seen({ c: running() }), NOW)).toMatchObject({
      observedGeneration: 3,
      hostIP: "10.0.0.1",
      hostIPs: [{ ip: "10.0.0.1" }],
      podIP: "10.1.0.5",
      podIPs: [{ ip: "10.1.0.5" }],
      startTime: "2030-01-01T00:01:00Z",
      qosClass: "Burstable",
      allocatedResources: { memory: "1Gi", cpu: "100m" },
      resources: { requests: { memory: "1Gi", cpu: "100m" } },
    });
  });

  it("a Pod on its node's network has the node's address, also before its sandbox", () => {
    const status = podStatus(podOf({ hostNetwork: true }), seen({}, { podIPs: [], sandboxReady: false }), NOW);
    expect(status).toMatchObject({ podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }] });
  });

  it("start and address are kept, and so is what is not a node's", () => {
    const api = { startTime: THEN, podIP: "10.1.0.9", podIPs: [{ ip: "10.1.0.9" }], nominatedNodeName: "n" };
    const status = podStatus(podOf({}, api), seen({}, { podIPs: [] }), NOW);
    expect(status).toMatchObject(api);
  });

  it("a Pod that is refused", () => {
    const why = { reason: "OutOfcpu", message: "Node didn't have enough resource: cpu" };
    expect(rejectedStatus(podOf(), why, NOW)).toMatchObject({
      phase: "Failed",
      reason: "OutOfcpu",
      message: "Pod was rejected: Node didn't have enough resource: cpu",
      startTime: "2030-01-01T00:01:00Z",
    });
  });
});
