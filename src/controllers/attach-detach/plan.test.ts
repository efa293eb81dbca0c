import { describe, expect, it } from "vitest";
import { type core, csiVolumeName, StatusError } from "#api";
import { podWith } from "../testing/index.ts";
import type { Elsewhere, VolumeMemory } from "./attach.ts";
import { attachmentName, newAttachment, type VolumeAttachment } from "./attachments.ts";
import { type NodeView, planNode } from "./plan.ts";
import type { WantedVolume } from "./wanted-volumes.ts";

const MINUTE = 60_000;
const NOW = 100 * MINUTE;
const identity = { driver: "d.example.com", volumeHandle: "h" };
const NAME = csiVolumeName(identity);
const AT = "2030-01-01T00:00:00Z";

const volumeWith = (...accessModes: NonNullable<core.PersistentVolumeSpec["accessModes"]>): core.PersistentVolume => ({
  metadata: { name: "pv" },
  spec: { accessModes, csi: identity },
});
const volume = volumeWith("ReadWriteOnce");
const wanted: WantedVolume = { name: NAME, identity, volume, pods: [podWith("p")] };
const attachment = (
  status: VolumeAttachment["status"] | undefined,
  { node = "n", leaving = false } = {},
): VolumeAttachment => {
  const made = newAttachment(volume, identity, node);
  return {
    ...made,
    metadata: { ...made.metadata, uid: "u", ...(leaving && { deletionTimestamp: AT }) },
    ...(status && { status }),
  };
};
const ATTACHED = { attached: true };
const WAITING = { attached: false };
const FAILED = { attached: false, attachError: { message: "no disk" } };

interface NodeFacts {
  readonly listed?: readonly string[];
  readonly ready?: boolean;
  readonly taints?: readonly core.Taint[];
}
const node = ({ listed = [], ready = true, taints = [] }: NodeFacts = {}): core.Node => ({
  metadata: { name: "n", resourceVersion: "7" },
  spec: { taints },
  status: {
    conditions: [{ type: "Ready", status: ready ? "True" : "Unknown" }],
    ...(listed.length > 0 && { volumesAttached: listed.map((name) => ({ name, devicePath: "" })) }),
  },
});

interface Row {
  readonly name: string;
  readonly node?: core.Node | undefined;
  readonly wanted?: readonly WantedVolume[];
  readonly has?: VolumeAttachment | undefined;
  readonly inUse?: readonly string[] | undefined;
  readonly elsewhere?: Partial<Elsewhere>;
  readonly memory?: VolumeMemory;
  readonly force?: boolean;
  /** Verbs and objects of the writes, step by step. */
  readonly writes?: readonly string[];
  readonly events?: readonly string[];
  readonly again?: number;
}

const noNode = { node: undefined };
const unwanted = { wanted: [] };

const ROWS: readonly Row[] = [
  { name: "a wanted volume gets an attachment", writes: ["create"] },
  { name: "nothing is attached to a node that is gone", ...noNode, writes: [] },
  { name: "an attachment in progress is awaited", has: attachment(WAITING), writes: [], again: 2 * MINUTE },
  {
    name: "an attacher that does not answer is reported",
    has: attachment(WAITING),
    memory: { waitingSinceMs: NOW - 2 * MINUTE },
    writes: [],
    events: [
      'FailedAttachVolume AttachVolume.Attach failed for volume "pv" : timed out waiting for external-attacher of d.example.com CSI driver to attach volume h',
    ],
    again: 2 * MINUTE + 500,
  },
  {
    name: "an error of the attacher is reported",
    has: attachment(FAILED),
    writes: [],
    events: ['FailedAttachVolume AttachVolume.Attach failed for volume "pv" : no disk'],
    again: 500,
  },
  {
    name: "it is reported again after a backoff that grows",
    has: attachment(FAILED),
    memory: { failures: 4, quietUntilMs: NOW },
    writes: [],
    events: ['FailedAttachVolume AttachVolume.Attach failed for volume "pv" : no disk'],
    again: 8_000,
  },
  {
    name: "but not before",
    has: attachment(FAILED),
    memory: { failures: 4, quietUntilMs: NOW + 300 },
    writes: [],
    again: 300,
  },
  {
    name: "an attached volume is listed, and announced",
    has: attachment(ATTACHED),
    writes: [`patch ${NAME}`],
    events: ['SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "pv" '],
  },
  {
    name: "announced once, however often the write fails",
    has: attachment(ATTACHED),
    memory: { isAnnounced: true },
    writes: [`patch ${NAME}`],
  },
  {
    name: "nothing is left to do",
    node: node({ listed: [NAME] }),
    has: attachment(ATTACHED),
    inUse: [NAME],
    writes: [],
  },
  {
    name: "an attachment that is gone is created again, and the volume is not listed meanwhile",
    node: node({ listed: [NAME] }),
    inUse: [NAME],
    writes: ["patch", "create"],
  },
  {
    name: "a volume whose attachment is being deleted is not listed",
    node: node({ listed: [NAME] }),
    has: attachment(ATTACHED, { leaving: true }),
    writes: ["patch"],
    again: 2 * MINUTE,
  },
  {
    name: "an attachment that is not deleted in the end is reported",
    has: attachment(ATTACHED, { leaving: true }),
    memory: { waitingSinceMs: NOW - 2 * MINUTE },
    writes: [],
    events: ['FailedAttachVolume AttachVolume.Attach failed for volume "pv" : volume attachment is being deleted'],
    again: 2 * MINUTE + 500,
  },
  // Several nodes
  {
    name: "an exclusive volume stays with its node",
    elsewhere: { attachments: [attachment(ATTACHED, { node: "m" })] },
    writes: [],
    events: [
      'FailedAttachVolume Multi-Attach error for volume "pv" Volume is already exclusively attached to one node and can\'t be attached to another',
    ],
  },
  {
    name: "the conflict is reported once",
    elsewhere: { attachments: [attachment(ATTACHED, { node: "m" })] },
    memory: { isConflictReported: true },
    writes: [],
  },
  {
    name: "the Pods that use it are named, if they are in the same namespace",
    elsewhere: {
      attachments: [attachment(ATTACHED, { node: "m" })],
      pods: [podWith("q"), podWith("r"), { metadata: { name: "s", namespace: "other" } }],
    },
    writes: [],
    events: [
      'FailedAttachVolume Multi-Attach error for volume "pv" Volume is already used by pod(s) q, r and 1 pod(s) in different namespaces',
    ],
  },
  {
    name: "those of other namespaces are counted",
    elsewhere: {
      attachments: [attachment(ATTACHED, { node: "m" })],
      pods: [{ metadata: { name: "s", namespace: "other" } }],
    },
    writes: [],
    events: [
      'FailedAttachVolume Multi-Attach error for volume "pv" Volume is already used by 1 pod(s) in different namespaces',
    ],
  },
  {
    name: "a volume that leaves another node is awaited",
    elsewhere: { attachments: [attachment(ATTACHED, { node: "m", leaving: true })] },
    writes: [],
  },
  {
    name: "so is one that is on its way to another node",
    elsewhere: { attachments: [attachment(WAITING, { node: "m" })] },
    writes: [],
  },
  { name: "or that another node is about to get", elsewhere: { isReserved: true }, writes: [], again: 1_000 },
  {
    name: "another node that failed to get it does not block it",
    elsewhere: { attachments: [attachment(FAILED, { node: "m" })] },
    writes: ["create"],
  },
  {
    name: "a shared volume is attached to several nodes",
    wanted: [{ ...wanted, volume: volumeWith("ReadWriteOnce", "ReadWriteMany") }],
    elsewhere: { attachments: [attachment(ATTACHED, { node: "m" })] },
    writes: ["create"],
  },
  // Detaching
  {
    name: "an unmounted volume leaves the status, then its attachment is deleted",
    ...unwanted,
    node: node({ listed: [NAME] }),
    has: attachment(ATTACHED),
    writes: ["patch @7", "delete"],
  },
  {
    name: "a volume in use stays",
    ...unwanted,
    node: node({ listed: [NAME] }),
    has: attachment(ATTACHED),
    inUse: [NAME],
    writes: [],
    again: 6 * MINUTE,
  },
  {
    name: "on a healthy node for as long as it takes",
    ...unwanted,
    node: node({ listed: [NAME] }),
    has: attachment(ATTACHED),
    inUse: [NAME],
    memory: { unneededSinceMs: NOW - 60 * MINUTE },
    writes: [],
  },
  {
    name: "on an unhealthy node for 6 minutes",
    ...unwanted,
    node: node({ listed: [NAME], ready: false }),
    has: attachment(ATTACHED),
    inUse: [NAME],
    memory: { unneededSinceMs: NOW - 6 * MINUTE },
    writes: ["patch @7", "delete"],
  },
  {
    name: "unless that is disabled",
    ...unwanted,
    node: node({ listed: [NAME], ready: false }),
    has: attachment(ATTACHED),
    inUse: [NAME],
    memory: { unneededSinceMs: NOW - 6 * MINUTE },
    force: false,
    writes: [],
  },
  {
    name: "on a node that is out of service not at all",
    ...unwanted,
    node: node({
      listed: [NAME],
      ready: false,
      taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }],
    }),
    has: attachment(ATTACHED),
    inUse: [NAME],
    force: false,
    writes: ["patch @7", "delete"],
  },
  {
    name: "what was attached to a node that is gone stays for 6 minutes, if it may be in use",
    ...unwanted,
    ...noNode,
    has: attachment(ATTACHED),
    inUse: undefined,
    writes: [],
    again: 6 * MINUTE,
  },
  {
    name: "and is detached then",
    ...unwanted,
    ...noNode,
    has: attachment(ATTACHED),
    inUse: undefined,
    memory: { unneededSinceMs: NOW - 6 * MINUTE },
    writes: ["delete"],
  },
  { name: "an attachment that failed is deleted", ...unwanted, has: attachment(FAILED), writes: ["delete"] },
  { name: "once", ...unwanted, has: attachment(ATTACHED, { leaving: true }), writes: [] },
  {
    name: "a volume that is listed without an attachment is removed, others stay",
    ...unwanted,
    node: node({ listed: [NAME, "kubernetes.io/iscsi/x"] }),
    writes: ["patch kubernetes.io/iscsi/x"],
  },
];

function viewOf(row: Row): NodeView {
  const { has, elsewhere } = row;
  return {
    name: "n",
    node: "node" in row ? row.node : node(),
    wanted: row.wanted ?? [wanted],
    attachments: has === undefined ? [] : [{ volume: NAME, object: has }],
    inUse: "inUse" in row ? row.inUse : [],
    elsewhere: () => ({ attachments: [], pods: [], isReserved: false, ...elsewhere }),
  };
}
const planOf = (row: Row) =>
  planNode(viewOf(row), new Map(row.memory && [[NAME, row.memory]]), NOW, { forceDetachOnTimeout: row.force ?? true });

interface StatusPatch {
  readonly metadata?: { readonly resourceVersion: string };
  readonly status: { readonly volumesAttached: readonly core.AttachedVolume[] | null };
}

describe("a plan for a node", () => {
  it.each(ROWS)("$name", (row) => {
    const { plan } = planOf(row);
    const writes = (plan.steps ?? []).flat().map((write) => {
      if (write.verb !== "patch") return write.verb;
      const { metadata, status } = write.patch as unknown as StatusPatch;
      const names = (status.volumesAttached ?? []).map(({ name }) => name);
      return ["patch", ...names, ...(metadata === undefined ? [] : [`@${metadata.resourceVersion}`])].join(" ");
    });
    expect(writes).toEqual(row.writes);
    expect((plan.events ?? []).map(({ reason, note }) => `${reason} ${note}`)).toEqual(row.events ?? []);
    expect(plan.againAfterMs).toBe(row.again);
  });

  it("remembers what it has reported, and forgets volumes that are gone", () => {
    expect(planOf({ name: "", has: attachment(FAILED) }).memory.get(NAME)).toMatchObject({ failures: 1 });
    expect(planOf({ name: "", ...unwanted, memory: { failures: 3 } }).memory.size).toBe(0);
  });

  it("attaches the other volumes if one fails", () => {
    const other = { ...wanted, name: "kubernetes.io/csi/d^other", identity: { ...identity, volumeHandle: "other" } };
    const { plan } = planOf({ name: "", wanted: [wanted, other] });
    const [first, second] = (plan.steps ?? []).flat();
    if (first === undefined || second === undefined) throw new Error("not both are created");
    const error = new StatusError("InternalError", "not now");
    plan.eventFor?.(first, { ok: false, error });
    expect(plan.finally?.([{ write: first, error }])).toEqual([second]);
    plan.eventFor?.(second, { ok: true, object: undefined });
    expect(plan.finally?.([{ write: first, error }])).toEqual([]);
  });

  it("reports an attachment that cannot be created, but not one that exists", () => {
    const { plan } = planOf({ name: "" });
    const [write] = (plan.steps ?? []).flat();
    if (write === undefined) throw new Error("nothing is created");
    const failing = (error: StatusError) => plan.eventFor?.(write, { ok: false, error });
    expect(failing(new StatusError("AlreadyExists", "it exists"))).toBeUndefined();
    expect(failing(new StatusError("Forbidden", "not you"))).toMatchObject([
      { note: 'AttachVolume.Attach failed for volume "pv" : not you' },
    ]);
  });
});

describe("the name of an attachment", () => {
  it("is the hash of handle, driver and node", () => {
    expect(attachmentName({ driver: "ebs.csi.aws.com", volumeHandle: "vol-1" }, "node-a")).toBe(
      "csi-7ba6b8ed285c3c863d675c3b4567d68ede4307ae1a37202e02bf2c4b9f42f28b",
    );
  });
});
