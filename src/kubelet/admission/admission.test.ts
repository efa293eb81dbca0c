import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { type AdmissionFacts, admitPod, admitResize } from "./admission.ts";
import { matchesNode } from "./node-affinity.ts";
import { Usage } from "./usage.ts";

let pods = 0;
const pod = (spec: Partial<core.PodSpec> = {}, name = `pod-${pods++}`): core.Pod => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { containers: [{ name: "app" }], ...spec },
});
const asking = (requests: Record<string, string>, name?: string) =>
  pod({ containers: [{ name: "app", resources: { requests } }] }, name);
const onPort = (hostPort: number, hostIP = "", name?: string) =>
  pod({ containers: [{ name: "app", ports: [{ containerPort: 80, hostPort, hostIP }] }] }, name);

describe("admission", () => {
  const facts = {
    node: { metadata: { name: "node-1", labels: { zone: "a" } } },
    allocatable: { cpu: "2", memory: "1Gi", pods: "3", "example.com/gpu": "1" },
    allowedUnsafeSysctls: ["kernel.msg*"],
  };
  const sysctl = (name: string, more: Partial<core.PodSpec> = {}) =>
    pod({ securityContext: { sysctls: [{ name, value: "1" }] }, ...more });
  it.each<[string, core.Pod, readonly core.Pod[], string | undefined]>([
    ["it fits", asking({ cpu: "1" }), [asking({ cpu: "1" })], undefined],
    [
      "processors",
      asking({ cpu: "1500m" }),
      [asking({ cpu: "1" })],
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
    ],
    [
      "memory",
      asking({ memory: "2Gi" }),
      [],
      "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
    ],
    [
      "devices",
      asking({ "example.com/gpu": "1" }),
      [asking({ "example.com/gpu": "1" })],
      "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 1, used: 1, capacity: 1",
    ],
    ["what the node does not know", asking({ "example.com/license": "2" }), [], undefined],
    [
      "pods",
      pod(),
      [pod(), pod(), pod()],
      "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
    ],
    [
      "a port",
      onPort(80),
      [onPort(80)],
      "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
    ["another address", onPort(80, "10.0.0.1"), [onPort(80, "10.0.0.2")], undefined],
    [
      "any address",
      onPort(80, "10.0.0.1"),
      [onPort(80, "0.0.0.0")],
      "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
    [
      "a selector",
      pod({ nodeSelector: { zone: "b" } }),
      [],
      "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    ],
    [
      "a port of a sidecar",
      onPort(80),
      [pod({ initContainers: [{ name: "s", restartPolicy: "Always", ports: [{ containerPort: 1, hostPort: 80 }] }] })],
      "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ],
    [
      "another system",
      pod({ os: { name: "windows" } }),
      [],
      "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ],
    [
      "groups of its own alone, by a runtime that cannot",
      pod({ securityContext: { supplementalGroupsPolicy: "Strict" } }),
      [],
      "SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node",
    ],
    ["groups of the image, too", pod({ securityContext: { supplementalGroupsPolicy: "Merge" } }), [], undefined],
    ["a safe sysctl", sysctl("kernel.shm_rmid_forced"), [], undefined],
    ["an allowed one", sysctl("kernel.msgmax"), [], undefined],
    ["another", sysctl("kernel.panic"), [], 'SysctlForbidden: forbidden sysctl: "kernel.panic" not allowlisted'],
    [
      "one of the node's own network",
      sysctl("net.ipv4.tcp_syncookies", { hostNetwork: true }),
      [],
      'SysctlForbidden: forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host net enabled',
    ],
  ])("%s", (_, asked, active, want) => {
    const problem = admitPod(asked, Usage.of(active), facts);
    expect(problem && `${problem.reason}: ${problem.message}`).toBe(want);
  });

  it.each<[string, string, string | undefined]>([
    ["1", "500m", undefined],
    ["1500m", "1", "Deferred: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000"],
    ["3", "0", "Infeasible: Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000"],
  ])("a resize to %s beside %s", (cpu, other, want) => {
    const verdict = admitResize(asking({ cpu }), Usage.of([asking({ cpu: other })]), facts.allocatable);
    expect(verdict.fits ? undefined : `${verdict.reason}: ${verdict.message}`).toBe(want);
  });
});

describe("features of the node", () => {
  const FEATURE = "RestartAllContainersOnContainerExits";
  const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } } as const;
  const container = { name: "app", restartPolicy: "Never", restartPolicyRules: [rule] };
  const facts = { node: { metadata: { name: "node-1" } }, allocatable: { pods: "3" }, allowedUnsafeSysctls: [] };
  const refusal = {
    reason: "PodFeatureUnsupported",
    message: `Pod requires node features that are not available: ${FEATURE}`,
  };
  it.each<[string, core.Pod, readonly string[] | undefined, typeof refusal | undefined]>([
    ["are not needed", pod(), [], undefined],
    ["are needed and declared", pod({ containers: [container] }), ["A", FEATURE], undefined],
    ["are needed and not declared", pod({ containers: [container] }), ["A"], refusal],
    ["are needed by an init container", pod({ initContainers: [container] }), [], refusal],
    ["are not checked without the gate", pod({ containers: [container] }), undefined, undefined],
  ])("%s", (_, asked, declaredFeatures, want) =>
    expect(admitPod(asked, new Usage(), { ...facts, declaredFeatures })).toEqual(want),
  );
});

describe("NoExecute taints", () => {
  const taint = { key: "down", value: "yes", effect: "NoExecute" } as const;
  const facts: AdmissionFacts = {
    node: { metadata: { name: "node-1" }, spec: { taints: [taint, { key: "other", effect: "NoSchedule" }] } },
    allocatable: { pods: "3" },
    allowedUnsafeSysctls: [],
  };
  const source = { metadata: { name: "s", annotations: { "kubernetes.io/config.source": "file" } } };
  it.each<[string, core.Pod, boolean]>([
    ["not tolerated", pod(), false],
    ["tolerated", pod({ tolerations: [{ key: "down", operator: "Exists" }] }), true],
    ["tolerated by its value", pod({ tolerations: [{ key: "down", value: "yes", effect: "NoExecute" }] }), true],
    ["another value", pod({ tolerations: [{ key: "down", value: "no" }] }), false],
    ["another effect", pod({ tolerations: [{ key: "down", operator: "Exists", effect: "NoSchedule" }] }), false],
    ["a static Pod", { ...pod(), ...source }, true],
  ])("%s", (_, asked, admitted) =>
    expect(admitPod(asked, new Usage(), facts)).toEqual(
      admitted
        ? undefined
        : {
            reason: "TaintToleration",
            message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
          },
    ),
  );
});

describe("node affinity", () => {
  const node = { metadata: { name: "node-1", labels: { zone: "a", size: "5" } } };
  const required = (...matchExpressions: core.NodeSelectorRequirement[]) =>
    pod({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
  it.each<[core.NodeSelectorRequirement, boolean]>([
    [{ key: "zone", operator: "In", values: ["a", "b"] }, true],
    [{ key: "zone", operator: "NotIn", values: ["a"] }, false],
    [{ key: "none", operator: "NotIn", values: ["a"] }, true],
    [{ key: "zone", operator: "Exists" }, true],
    [{ key: "zone", operator: "DoesNotExist" }, false],
    [{ key: "size", operator: "Gt", values: ["4"] }, true],
    [{ key: "size", operator: "Lt", values: ["4"] }, false],
  ])("%j: %s", (requirement, want) => expect(matchesNode(required(requirement), node)).toBe(want));

  it("an empty term fits nothing, and a field is the name", () => {
    expect(matchesNode(required(), node)).toBe(false);
    const matchFields = [{ key: "metadata.name", operator: "In", values: ["node-1"] }] as const;
    const named = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } },
    };
    expect(matchesNode(pod({ affinity: named }), node)).toBe(true);
  });
});
