/** Flows of volumes, played on real nodes: there, kubelets ask drivers as well. */
import type { FlowRecord } from "#flows";
import { of, type Scenario, type Stage, step } from "./scenario.ts";

const DRIVER = "local.csi.k8ts.dev";
const ATTACHMENTS = "storage.k8s.io/volumeattachments";

/** A Pod with a claim of the default class, both created by the user. */
async function runWithClaim({ kubectl }: Stage, name: string): Promise<void> {
  await kubectl(["wait", "--for=create", "storageclass/standard", "--timeout=60s"]);
  await kubectl(["wait", "--for=jsonpath={.spec.drivers[0].name}", "csinode/node-1", "--timeout=60s"]);
  await kubectl(["create", "-f", "-"], {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "32Mi" } } },
  });
  await kubectl(["create", "-f", "-"], {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      containers: [
        {
          name: "main",
          image: "localhost/busybox:1",
          command: ["sleep", "3600"],
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        },
      ],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
    },
  });
  await kubectl(["wait", "--for=condition=Ready", `pod/${name}`, "--timeout=90s"]);
}

export const volumeProvisioning: Scenario = {
  id: "volume-provisioning",
  title: "A claim gets a volume, and a Pod mounts it",
  about:
    "The default class waits for the first consumer: the scheduler finds a node with room for the Pod and its volume, and writes it to the claim. The provisioner has the driver make the volume there and creates its PersistentVolume; the binder binds both; the Pod is bound, the volume attached, and the node's kubelet has the driver stage and publish it. `k8ts flow pvc/…` shows this.",
  nodes: "real",
  act: (stage) => runWithClaim(stage, "claimed"),
  flow: of("persistentvolumeclaims", "default", "claimed"),
  steps: [
    step("kubectl ──► apiserver", /^POST persistentvolumeclaims$/, "the user asks for a volume"),
    step("apiserver ══► store", /^claimed @/, "the claim is persisted: it waits for a consumer"),
    step("scheduler ──► apiserver", /^(PUT|PATCH) persistentvolumeclaims\/claimed$/, "the scheduler selects its node"),
    step("apiserver --► csi-provisioner", /^MODIFIED claimed @/, "the provisioner sees it"),
    step(`csi-provisioner ──► ${DRIVER}`, /^CreateVolume/, "and has the driver make a volume there"),
    step("csi-provisioner ──► apiserver", /^POST persistentvolumes$/, "it creates the PersistentVolume"),
    step(
      "persistent-volume-binder ──► apiserver",
      /^PUT persistentvolumeclaims\/claimed\/status$/,
      "the binder has bound claim and volume; the scheduler, which waits for that, binds the Pod",
    ),
    step("attachdetach-controller ──► apiserver", /^POST volumeattachments$/, "the volume is to be attached"),
    step(`csi-attacher ──► ${DRIVER}`, /^ControllerPublishVolume/, "the attacher asks the driver for that"),
    step(`kubelet/* ──► ${DRIVER}`, /^NodeStageVolume/, "the kubelet has the driver stage it, once for the node"),
    step(`kubelet/* ──► ${DRIVER}`, /^NodePublishVolume/, "and publish it, where the Pod sees it"),
    step("kubelet/* ──► runtime", /^StartContainer/, "only then containers start"),
  ],
};

/** Of the attachment that was made. */
function attachment(all: readonly FlowRecord[]): readonly FlowRecord[] {
  const made = all.find((each) => each.type === "request" && each.resource === ATTACHMENTS && each.verb === "create");
  return made?.type === "request" ? of(ATTACHMENTS, "", made.name)(all) : [];
}

export const volumeAttach: Scenario = {
  id: "volume-attach",
  title: "A volume is attached to its Pod's node",
  about:
    "A Pod with a volume is bound: the attach-detach controller creates a VolumeAttachment. The driver's attacher sees it, asks the driver, and reports; the controller writes the volume to the Node's status, which the kubelet waits for before it stages anything.",
  nodes: "real",
  act: (stage) => runWithClaim(stage, "attached"),
  flow: attachment,
  steps: [
    step("attachdetach-controller ──► apiserver", /^POST volumeattachments$/, "an attachment is wanted"),
    step("apiserver ══► store", /^csi-/, "it is persisted"),
    step("apiserver --► csi-attacher", /^ADDED csi-/, "the driver's attacher sees it"),
    step(`csi-attacher ──► ${DRIVER}`, /^ControllerPublishVolume/, "and asks the driver"),
    step("csi-attacher ──► apiserver", /^(PUT|PATCH) volumeattachments\/csi-.*\/status$/, "it reports: attached"),
    step("apiserver --► attachdetach-controller", /^MODIFIED csi-/, "the controller sees it"),
    step("attachdetach-controller ──► apiserver", /^(PUT|PATCH) nodes\/node-1\/status$/, "and writes it to the Node"),
    step(`kubelet/* ──► ${DRIVER}`, /^NodeStageVolume/, "which the kubelet has waited for"),
  ],
};
