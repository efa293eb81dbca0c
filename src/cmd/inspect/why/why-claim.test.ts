/** Situations of claims, and what their owners are told. */
import { describe, expect, it } from "vitest";
import type { core, storage } from "#api";
import { renderAnswer } from "./answer.ts";
import type { ClaimFacts } from "./claim-facts.ts";
import type { PodFacts } from "./facts.ts";
import { whyClaim } from "./why-claim.ts";

const DRIVER = "disk.example.com";
const claim = (
  spec: Partial<core.PersistentVolumeClaimSpec> = {},
  status: core.PersistentVolumeClaimStatus = { phase: "Pending" },
  metadata: Partial<core.PersistentVolumeClaim["metadata"]> = {},
): core.PersistentVolumeClaim => ({
  metadata: { name: "data", namespace: "default", uid: "u", ...metadata },
  spec: { storageClassName: "fast", resources: { requests: { storage: "2Gi" } }, ...spec },
  status,
});
const fast = (more: Partial<storage.StorageClass> = {}): storage.StorageClass => ({
  metadata: { name: "fast" },
  provisioner: DRIVER,
  ...more,
});
const event = (reason: string, message: string): core.Event => ({
  metadata: { name: reason },
  involvedObject: {},
  reason,
  message,
});
const pod = (name: string, nodeName?: string): PodFacts => {
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message: "0/2 nodes are available",
  } as const;
  return {
    name,
    namespace: "default",
    pod: {
      metadata: { name, namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z" },
      spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
      status: nodeName === undefined ? { conditions: [condition] } : { phase: "Running" },
    },
    ...{ events: [], attempts: [], requests: [], nodes: [], now: Date.parse("2026-01-01T00:01:00Z") },
  };
};
const csiNode = (name: string, topologyKeys?: readonly string[], driver = DRIVER): storage.CSINode => ({
  metadata: { name },
  spec: { drivers: [{ name: driver, nodeID: name, ...(topologyKeys !== undefined && { topologyKeys }) }] },
});
const node = (name: string, labels: Record<string, string> = {}): core.Node => ({ metadata: { name, labels } });
const csiDriver: storage.CSIDriver = { metadata: { name: DRIVER }, spec: { storageCapacity: true } };
const volume = (claimRef?: core.ObjectReference): core.PersistentVolume => ({
  metadata: { name: "pv-1" },
  spec: { ...(claimRef !== undefined && { claimRef }), csi: { driver: DRIVER, volumeHandle: "h" } },
  status: { phase: "Released" },
});
const HERE = { csiNodes: [csiNode("n1")], driver: { metadata: { name: DRIVER }, spec: {} } };
const LATE = fast({ volumeBindingMode: "WaitForFirstConsumer" });
const chosen = { annotations: { "volume.kubernetes.io/selected-node": "n1" } };
const bound = (status: core.PersistentVolumeClaimStatus = {}, spec: Partial<core.PersistentVolumeClaimSpec> = {}) =>
  claim({ volumeName: "pv-1", ...spec }, { phase: "Bound", capacity: { storage: "2Gi" }, ...status });

type Given = Partial<ClaimFacts>;

describe("a claim", () => {
  it.each<[name: string, given: Given, says: string[]]>([
    [
      "no class, no default",
      { claim: { ...claim(), spec: {} } },
      ["is Pending", "there is no default one", "kubectl get storageclass"],
    ],
    [
      "the empty class",
      { claim: claim({ storageClassName: "" }) },
      ["a volume without a class", "create a PersistentVolume"],
    ],
    ["an unknown class", {}, ['the storage class "fast"', "there is no such class"]],
    [
      "a class that makes nothing",
      { storageClass: fast({ provisioner: "kubernetes.io/no-provisioner" }) },
      ["its class makes no volumes", "no free PersistentVolume"],
    ],
    [
      "waits, nobody uses it",
      { storageClass: LATE },
      ["waits for the first Pod", "no Pod uses it", "when a Pod uses it"],
    ],
    [
      "waits, its Pod is not placed",
      { storageClass: LATE, pods: [pod("web")] },
      ["pod/web has been Pending for 60 s", "0/2 nodes are available"],
    ],
    [
      "provisioning failed",
      {
        ...HERE,
        storageClass: fast(),
        events: [
          event("Provisioning", "…"),
          event("ProvisioningFailed", "rpc error: code = ResourceExhausted desc = pool is full"),
        ],
      },
      ["pool is full", "event ProvisioningFailed", "words of the driver"],
    ],
    [
      "for a chosen node",
      { ...HERE, claim: claim({}, { phase: "Pending" }, chosen), storageClass: LATE },
      ["it is to be made for node n1", "has not answered yet"],
    ],
    ["no driver at all", { storageClass: fast() }, [`no driver ${DRIVER} in this cluster`, "install this driver"]],
    ["the driver's nodes are gone", { storageClass: fast(), driver: csiDriver }, [`no node runs the driver ${DRIVER}`]],
    [
      "not on the chosen node",
      { ...HERE, csiNodes: [csiNode("n2")], claim: claim({}, { phase: "Pending" }, chosen), storageClass: LATE },
      [`node n1 does not run the driver ${DRIVER}`],
    ],
    [
      "no such zone",
      {
        ...HERE,
        nodes: [node("n1", { zone: "b" })],
        storageClass: fast({ allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["a"] }] }] }),
      },
      ["no node is in the topology that the class allows (zone in a)"],
    ],
    [
      "nodes without the driver's topology",
      { ...HERE, csiNodes: [csiNode("n1", ["topology.disk/node"])], nodes: [node("n1")], storageClass: fast() },
      ["nodes lack the topology label topology.disk/node"],
    ],
    [
      "no room",
      {
        ...HERE,
        driver: csiDriver,
        storageClass: fast(),
        capacities: [{ metadata: { name: "c" }, storageClassName: "fast", capacity: "1Gi" }],
      },
      ["it wants 2Gi, and the largest free place has 1Gi"],
    ],
    [
      "an in-tree name is its driver",
      { storageClass: fast({ provisioner: "kubernetes.io/aws-ebs" }) },
      ["no driver ebs.csi.aws.com"],
    ],
    [
      "a volume that does not exist",
      { claim: claim({ volumeName: "pv-9" }) },
      ["asks for the volume pv-9", "there is no such volume"],
    ],
    [
      "a volume of another claim",
      { claim: claim({ volumeName: "pv-1" }), volume: volume({ namespace: "default", name: "old", uid: "other" }) },
      ["which belongs to default/old (Released)", "spec.claimRef is removed"],
    ],
    [
      "a volume that does not fit",
      {
        claim: claim({ volumeName: "pv-1" }),
        volume: volume(),
        events: [event("VolumeMismatch", 'Cannot bind to requested volume "pv-1": requested PV is too small')],
      },
      ["requested PV is too small"],
    ],
    [
      "lost",
      {
        claim: claim({ volumeName: "pv-1" }, { phase: "Lost" }),
        events: [event("ClaimLost", "Bound claim has lost its PersistentVolume.")],
      },
      ["is Lost", "has lost its PersistentVolume", "does not come back"],
    ],
    [
      "kept",
      {
        claim: claim(
          {},
          { phase: "Bound" },
          { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["kubernetes.io/pvc-protection"] },
        ),
        pods: [pod("web", "n1")],
      },
      ["is being deleted", "kubernetes.io/pvc-protection", "used by pod/web"],
    ],
    ["bound", { claim: bound(), pods: [pod("web", "n1")] }, ["is Bound\n", "to pv-1", "used by pod/web"]],
    [
      "attached",
      {
        claim: bound(),
        volume: volume(),
        attachments: [
          {
            metadata: { name: "csi-1" },
            spec: { attacher: DRIVER, nodeName: "n1", source: { persistentVolumeName: "pv-1" } },
            status: { attached: false, attachError: { message: "disk is in use" } },
          },
        ],
      },
      ["on node n1: disk is in use", "volumeattachment/csi-1"],
    ],
    [
      "grows, and its class forbids it",
      { claim: bound({ capacity: { storage: "1Gi" } }), storageClass: fast() },
      ["is Bound, and grows from 1Gi to 2Gi", "its class does not allow expansion"],
    ],
    [
      "grows, and waits for a Pod",
      {
        ...HERE,
        claim: bound({ capacity: { storage: "1Gi" }, allocatedResourceStatuses: { storage: "NodeResizePending" } }),
        storageClass: fast({ allowVolumeExpansion: true }),
        volume: volume(),
      },
      ["its file system will on the node", "when a Pod uses it"],
    ],
    [
      "grows, and the driver will not",
      {
        ...HERE,
        claim: bound({
          capacity: { storage: "1Gi" },
          allocatedResourceStatuses: { storage: "ControllerResizeInfeasible" },
        }),
        storageClass: fast({ allowVolumeExpansion: true }),
        events: [event("VolumeResizeFailed", "rpc error: code = OutOfRange desc = at most 1Gi")],
      },
      ["cannot be expanded to this size", "at most 1Gi"],
    ],
    [
      "grows, and the driver is gone",
      {
        claim: bound({ capacity: { storage: "1Gi" } }),
        storageClass: fast({ allowVolumeExpansion: true }),
        volume: volume(),
      },
      [`its driver ${DRIVER} is gone`],
    ],
    [
      "grows, and nobody begins",
      {
        ...HERE,
        claim: bound({ capacity: { storage: "1Gi" } }),
        storageClass: fast({ allowVolumeExpansion: true }),
        volume: volume(),
      },
      ["nobody has begun to expand it"],
    ],
    [
      "changes its class of attributes",
      {
        claim: bound({
          modifyVolumeStatus: { status: "Infeasible", targetVolumeAttributesClassName: "gold" },
          currentVolumeAttributesClassName: "silver",
        }),
      },
      ["changes its VolumeAttributesClass from silver to gold", "the change is Infeasible"],
    ],
  ])("%s", (_name, given, says) => {
    const text = renderAnswer(whyClaim({ claim: claim(), events: [], ...given }));
    for (const each of says) expect(text).toContain(each);
  });
});
