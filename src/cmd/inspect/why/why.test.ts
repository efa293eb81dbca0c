/** Twenty situations in which somebody asks why, and what they are told. */
import { describe, expect, it } from "vitest";
import type { apps, core } from "#api";
import type { RequestRecord } from "#flows";
import { renderAnswer } from "./answer.ts";
import { oneObject } from "./command.ts";
import type { PodFacts, SchedulingAttempt } from "./facts.ts";
import { whyForbidden } from "./forbidden/why-forbidden.ts";
import { whyDeployment } from "./why-deployment.ts";
import { whyPod } from "./why-pod.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const CREATED = "2026-01-01T00:07:00Z";

function node(name: string, ready: "True" | "False" | "Unknown" = "True"): core.Node {
  const message = ready === "True" ? "fine" : "Kubelet stopped posting node status.";
  const condition = { type: "Ready", status: ready, reason: "NodeStatusUnknown", message };
  return { apiVersion: "v1", kind: "Node", metadata: { name }, status: { conditions: [condition] } };
}

function pod(
  spec: Partial<core.PodSpec>,
  status: core.PodStatus = {},
  metadata: Partial<core.Pod["metadata"]> = {},
): core.Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "x", namespace: "default", uid: "u", creationTimestamp: CREATED, ...metadata },
    spec: { containers: [{ name: "c" }], ...spec },
    status,
  };
}

function facts(given: core.Pod | undefined, more: Partial<PodFacts> = {}): PodFacts {
  return {
    name: "x",
    namespace: "default",
    pod: given,
    events: [],
    attempts: [],
    requests: [],
    nodes: [node("n1")],
    now: NOW,
    ...more,
  };
}

function attempt(plugin: string, reason: string): SchedulingAttempt {
  return {
    attempt: 1,
    outcome: { kind: "unschedulable", message: `0/1 nodes are available: 1 ${reason}.` },
    nodeCount: 1,
    fitting: 0,
    rejections: [{ plugin, reasons: [reason], nodes: 1 }],
    best: [],
  };
}

/** The last word was that it goes there. */
const CHOSEN: SchedulingAttempt = {
  attempt: 1,
  outcome: { kind: "scheduled", node: "n1" },
  nodeCount: 1,
  fitting: 1,
  rejections: [],
  best: [],
};

function failed(message: string): SchedulingAttempt {
  return { ...CHOSEN, outcome: { kind: "error", message }, fitting: 0 };
}

function unscheduled(message: string): core.PodStatus {
  return { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] };
}

function request(facts: Partial<RequestRecord>): RequestRecord {
  return {
    type: "request",
    seq: 1,
    at: NOW,
    actor: "kubectl",
    user: "alice",
    verb: "delete",
    resource: "pods",
    subresource: "",
    namespace: "default",
    name: "x",
    status: 200,
    tookMs: 1,
    written: { revision: 41, change: "DELETED", uid: "u", at: NOW },
    ...facts,
  };
}

function container(state: core.ContainerState, more: Partial<core.ContainerStatus> = {}): core.PodStatus {
  const status = {
    name: "c",
    image: "i",
    imageID: "",
    ready: false,
    restartCount: 0,
    state,
    ...more,
  } as core.ContainerStatus;
  const ready = {
    type: "Ready",
    status: "False",
    reason: "ContainersNotReady",
    message: "containers with unready status: [c]",
  };
  return { phase: "Running", startTime: CREATED, containerStatuses: [status], conditions: [ready] };
}

const on = { nodeName: "n1" };

describe("why a Pod", () => {
  it.each<[string, PodFacts, string, string]>([
    ["is gated", facts(pod({ schedulingGates: [{ name: "quota" }] })), "scheduling gates: quota", "must remove them"],
    [
      "fits nowhere by its requests",
      facts(pod({}), { attempts: [attempt("NodeResourcesFit", "Insufficient cpu")] }),
      "Insufficient cpu",
      "request less cpu",
    ],
    [
      "is kept out by a taint",
      facts(pod({}), { attempts: [attempt("TaintToleration", "node(s) had untolerated taint(s)")] }),
      "untolerated taint",
      "add a toleration",
    ],
    [
      "selects no node",
      facts(pod({}), { attempts: [attempt("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")] }),
      "affinity/selector",
      "label one",
    ],
    [
      "meets a cordoned node",
      facts(pod({}), { attempts: [attempt("NodeUnschedulable", "node(s) were unschedulable")] }),
      "unschedulable",
      "kubectl uncordon",
    ],
    [
      "has a host port that is taken",
      facts(pod({}), {
        attempts: [attempt("NodePorts", "node(s) didn't have free ports for the requested pod ports")],
      }),
      "free ports",
      "another port",
    ],
    [
      "waits for a claim",
      facts(pod({}), { attempts: [attempt("VolumeBinding", 'persistentvolumeclaim "data" not found')] }),
      "not found",
      "create the claim data",
    ],
    [
      "has no node to go to",
      facts(pod({}), { nodes: [], attempts: [attempt("", "no nodes")] }),
      "0/1 nodes",
      "add one",
    ],
    [
      "has been given a node, and waits for its volumes",
      facts(pod({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] }), { attempts: [CHOSEN] }),
      "n1 was chosen for it",
      "are its claims bound?",
    ],
    [
      "could not be bound",
      facts(pod({}), { attempts: [CHOSEN, failed('running Bind plugin "DefaultBinder": no room')] }),
      'running Bind plugin "DefaultBinder": no room',
      "condition PodScheduled",
    ],
    [
      "is told of by its condition alone",
      facts(
        pod(
          {},
          unscheduled(
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
          ),
        ),
      ),
      "1 Insufficient cpu, 2 node(s)",
      "request less cpu, delete other Pods, or add a node\n  → add a toleration",
    ],
    [
      "has its volume elsewhere",
      facts(pod({}), { attempts: [attempt("VolumeBinding", "node(s) didn't match PersistentVolume's node affinity")] }),
      "PersistentVolume's node affinity",
      "on another node",
    ],
    [
      "spreads over a label that no node has",
      facts(pod({}), {
        attempts: [
          attempt("PodTopologySpread", "node(s) didn't match pod topology spread constraints (missing required label)"),
        ],
      }),
      "missing required label",
      "kubectl label node",
    ],
    [
      "is turned away by an extender",
      facts(pod({}), { attempts: [attempt("", "too hot")] }),
      "1 of 1 nodes: too hot",
      "(scheduler)",
    ],
    [
      "asks for a scheduler that is not there",
      facts(pod({ schedulerName: "mine" })),
      "the scheduler mine",
      "run a scheduler named mine",
    ],
    [
      "is on a node that is silent",
      facts(pod(on, { phase: "Running" }), { nodes: [node("n1", "Unknown")] }),
      "stopped posting",
      "describe node n1",
    ],
    [
      "is on a node that is gone",
      facts(pod(on, { phase: "Running" }), { nodes: [] }),
      "its node n1 no longer exists",
      "garbage collected",
    ],
    [
      "cannot have its image",
      facts(pod(on, container({ waiting: { reason: "ImagePullBackOff", message: "no such host" } }))),
      "ImagePullBackOff",
      "image name",
    ],
    [
      "misses a ConfigMap",
      facts(
        pod(on, container({ waiting: { reason: "CreateContainerConfigError", message: 'configmap "x" not found' } })),
      ),
      'configmap "x" not found',
      "create the ConfigMap x",
    ],
    [
      "is killed for its memory again and again",
      facts(
        pod(
          on,
          container(
            { waiting: { reason: "CrashLoopBackOff" } },
            { restartCount: 4, lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } },
          ),
        ),
      ),
      "137 (OOMKilled), 4 restarts",
      "raise the limit",
    ],
    [
      "is not ready",
      facts(pod(on, container({ running: { startedAt: CREATED } }))),
      "its readiness probe has not succeeded",
      "readiness probe",
    ],
    [
      "has failed",
      facts(
        pod(on, {
          phase: "Failed",
          containerStatuses: container({ terminated: { exitCode: 3, reason: "Error" } }).containerStatuses ?? [],
        }),
      ),
      "exited with 3",
      "kubectl logs",
    ],
    [
      "was evicted",
      facts(pod(on, { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." })),
      "low on resource: memory",
      "requests and limits",
    ],
    [
      "is kept by a finalizer",
      facts(pod(on, {}, { deletionTimestamp: CREATED, finalizers: ["example.com/hold"] }), { requests: [request({})] }),
      "example.com/hold",
      "must remove them",
    ],
    ["is gone", facts(undefined, { requests: [request({})] }), "kubectl (alice) deleted it", "revision 41"],
    ["was never there", facts(undefined), "there is no record of a pod x", "flow records"],
  ])("%s", (_, given, because, help) => {
    const said = renderAnswer(whyPod(given));
    expect(said).toContain(because);
    expect(said).toContain(help);
  });

  it("an image that is being pulled: how much, for how long, and from where", () => {
    const creating = { name: "c", ready: false, restartCount: 0, image: "", imageID: "" };
    const status = {
      phase: "Pending",
      containerStatuses: [{ ...creating, state: { waiting: { reason: "ContainerCreating" } } }],
    };
    const pull = {
      ...{ image: "r.example/a:1", namespace: "default", pod: "x", tookMs: 14_000, others: 0 },
      ...{ receivedBytes: 12_300_000, totalBytes: 80_000_000, layers: 3, completeLayers: 2 },
    };
    const { cause } = whyPod(facts(pod({ nodeName: "n1" }, status as core.PodStatus), { pulls: [pull] }));
    expect(cause).toBe(
      "the image r.example/a:1 has been pulled from r.example for 14 s: 12.3 of 80.0 MB in 3 layers so far, 2 complete",
    );
  });

  it("runs where it runs", () => {
    const status: core.PodStatus = {
      phase: "Running",
      startTime: CREATED,
      conditions: [{ type: "Ready", status: "True" }],
    };
    const scheduled: SchedulingAttempt = {
      attempt: 1,
      outcome: { kind: "scheduled", node: "n1" },
      nodeCount: 3,
      fitting: 2,
      rejections: [],
      best: [{ node: "n1", total: 300, parts: { NodeResourcesFit: 100, TaintToleration: 200 } }],
    };
    expect(renderAnswer(whyPod(facts(pod(on, status), { attempts: [scheduled] })))).toBe(
      [
        "pod/x has been Running on n1 for 3 min",
        "  └ 2 of 3 nodes fit, n1 scored highest                      (attempt 1)",
        "    └ n1: 300 = TaintToleration 200 + NodeResourcesFit 100   (scores)",
        "",
      ].join("\n"),
    );
  });
});

describe("what is asked about", () => {
  it.each([
    ["pod/x", [], "pod/x"],
    ["pod", ["x"], "pod/x"],
  ])("%s %s", (object, more, want) => {
    expect(oneObject(object, more)).toBe(want);
  });

  it.each([
    ["pod/x", ["y"]],
    ["pod", ["x", "y"]],
  ])("%s %s: one at a time", (object, more) => {
    expect(() => oneObject(object, more)).toThrow("One object at a time");
  });
});

describe("why a Deployment", () => {
  const deployment = (spec: Partial<apps.DeploymentSpec>, status: apps.DeploymentStatus): apps.Deployment => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", generation: 1 },
    spec: { replicas: 2, selector: {}, template: {}, ...spec } as apps.DeploymentSpec,
    status: { observedGeneration: 1, ...status },
  });
  it("is stuck goes down to the Pod that is", () => {
    const given = facts(pod({}), { attempts: [attempt("NodeResourcesFit", "Insufficient memory")] });
    const said = renderAnswer(
      whyDeployment({ name: "web", deployment: deployment({}, {}), replicaSets: [], pods: [given] }),
    );
    expect(said).toContain("deployment/web has 0 of 2 available");
    expect(said).toContain("pod/x has been Pending for 3 min");
    expect(said).toContain("request less memory");
  });

  it.each<[string, apps.Deployment | undefined, string]>([
    ["is paused", deployment({ paused: true }, {}), "kubectl rollout resume deployment/web"],
    ["is well", deployment({}, { availableReplicas: 2, updatedReplicas: 2 }), "it is up to date"],
    ["is not there", undefined, "there is no object of this name"],
    [
      "may not make Pods",
      deployment(
        {},
        {
          conditions: [
            { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota: q" },
          ],
        },
      ),
      "exceeded quota: q",
    ],
  ])("%s", (_, given, want) => {
    expect(renderAnswer(whyDeployment({ name: "web", deployment: given, replicaSets: [], pods: [] }))).toContain(want);
  });
});

describe("why somebody may not", () => {
  const asked = { user: "jane", verb: "list", target: "pods", namespace: "default" };
  it("says which role is missing, and how to give it", () => {
    const said = renderAnswer(whyForbidden({ ...asked, allowed: false }));
    expect(said).toContain("jane may not list pods in default");
    expect(said).toContain("kubectl create role NAME --verb=list --resource=pods -n default");
  });

  it("says by which role they may after all", () => {
    const reason = 'RBAC: allowed by RoleBinding "b/default" of Role "r" to User "jane"';
    expect(renderAnswer(whyForbidden({ ...asked, allowed: true, reason }))).toContain(reason);
  });
});
