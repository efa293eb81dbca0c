/** The running attacher on virtual time. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { GrpcError } from "#grpc";
import { oneForAll } from "../driver-controllers.ts";
import { type ScriptedOptions, scriptedDriver } from "../testing/scripted-driver.ts";
import { volumeStory } from "../testing/story.ts";
import { attacher } from "./index.ts";
import { attacherFinalizer } from "./plan.ts";

const NAME = "example.com";
const FINALIZER = "external-attacher/example-com";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster(options: ScriptedOptions = {}) {
  const script = scriptedDriver(options);
  const story = await volumeStory(attacher({ drivers: oneForAll(NAME, script.driver) }), { nodes: ["n1"] });
  open.push(() => story.close());
  await script.driver.Controller.CreateVolume({ name: "v", capacityRange: { requiredBytes: 1 } });
  const { client, settle } = story;
  const attachments = client.of(kinds.VolumeAttachment);
  const volume: core.PersistentVolume = {
    metadata: { name: "pv" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1Gi" },
      persistentVolumeReclaimPolicy: "Retain",
      csi: { driver: NAME, volumeHandle: "id-of-v" },
    },
  };
  await client.of(kinds.PersistentVolume).create(volume);
  return {
    ...story,
    script,
    attachments,
    async attach(node = "n1", source: object = { persistentVolumeName: "pv" }, attacherName = NAME) {
      const spec = { attacher: attacherName, nodeName: node, source };
      await attachments.create({ metadata: { name: "a" }, spec });
      await settle();
    },
  };
}

describe("an attachment", () => {
  it("is attached under finalizers, with three writes", async () => {
    const { attach, attachments, volumes, script, requests, reasons } = await cluster();
    const before = requests().length;
    await attach();
    const { metadata, status } = await attachments.get("a");
    expect(metadata.finalizers).toEqual([FINALIZER]);
    expect(metadata.annotations).toEqual({ "csi.alpha.kubernetes.io/node-id": "id-n1" });
    expect(status).toEqual({ attached: true, attachmentMetadata: { device: "/dev/id-of-v" } });
    expect((await volumes.get("pv")).metadata.finalizers).toContain(FINALIZER);
    expect(script.volumes.get("id-of-v")?.publishedTo).toEqual(["id-n1"]);
    const patches = requests()
      .slice(before)
      .filter(({ method }) => method === "PATCH");
    expect(patches).toHaveLength(3);
    expect(await reasons()).toEqual([]);
  });

  it("is detached before it goes, and then its volume is free", async () => {
    const { attach, attachments, volumes, script, settle } = await cluster();
    await attach();
    await volumes.delete("pv");
    await settle();
    expect((await volumes.get("pv")).metadata.deletionTimestamp).toBeDefined();
    await attachments.delete("a");
    await settle();
    expect(script.volumes.get("id-of-v")?.publishedTo).toEqual([]);
    expect((await attachments.list()).items).toEqual([]);
    expect((await volumes.list()).items).toEqual([]);
  });

  it("of another attacher is left alone", async () => {
    const { attach, script } = await cluster();
    await attach("n1", undefined, "other.example.com");
    expect(script.called("ControllerPublishVolume")).toBe(0);
  });

  it("of a driver that attaches nothing is attached at once, without finalizers", async () => {
    const { attach, attachments, script } = await cluster({ rpcs: ["CREATE_DELETE_VOLUME"] });
    await attach();
    const { metadata, status } = await attachments.get("a");
    expect([metadata.finalizers, status]).toEqual([undefined, { attached: true }]);
    expect(script.called("ControllerPublishVolume")).toBe(0);
  });

  it("tells why it fails, waits longer each time, and is attached in the end", async () => {
    const { attach, attachments, script, pass } = await cluster();
    script.fail("ControllerPublishVolume", () => new GrpcError("RESOURCE_EXHAUSTED", "node is full"));
    await attach();
    expect((await attachments.get("a")).status).toMatchObject({
      attached: false,
      attachError: { message: "rpc error: code = ResourceExhausted desc = node is full", errorCode: 8 },
    });
    await pass(4_000);
    expect(script.called("ControllerPublishVolume")).toBe(3);
    script.fail("ControllerPublishVolume", () => undefined);
    await pass(5_000);
    expect((await attachments.get("a")).status).toMatchObject({ attached: true });
    expect((await attachments.get("a")).status?.attachError).toBeUndefined();
  });

  it("stays while detaching fails, and tells why", async () => {
    const { attach, attachments, script, settle, pass } = await cluster();
    await attach();
    script.fail("ControllerUnpublishVolume", () => new GrpcError("INTERNAL", "jammed"));
    await attachments.delete("a");
    await settle();
    const { status, metadata } = await attachments.get("a");
    expect(status?.detachError?.message).toContain("jammed");
    expect(metadata.finalizers).toEqual([FINALIZER]);
    script.fail("ControllerUnpublishVolume", () => undefined);
    await pass(2_000);
    expect((await attachments.list()).items).toEqual([]);
  });

  it.each([
    ["a volume that is missing", "n1", { persistentVolumeName: "gone" }, 'persistentvolume "gone" not found'],
    ["a node without the driver", "n9", { persistentVolumeName: "pv" }, 'csinode "n9" not found'],
  ])("for %s fails", async (_, node, source, message) => {
    const { attach, attachments, script } = await cluster();
    await attach(node, source);
    expect((await attachments.get("a")).status?.attachError?.message).toBe(message);
    expect(script.called("ControllerPublishVolume")).toBe(0);
  });

  it("is attached as soon as the driver has registered on the node", async () => {
    const { attach, attachments, client, settle } = await cluster();
    await attach("n2");
    const drivers = [{ name: NAME, nodeID: "id-n2" }];
    await client.of(kinds.CSINode).create({ metadata: { name: "n2" }, spec: { drivers } });
    await settle();
    expect((await attachments.get("a")).status?.attached).toBe(true);
  });

  it("is detached from a node whose CSINode is gone", async () => {
    const { attach, attachments, client, script, settle } = await cluster();
    await attach();
    await client.of(kinds.CSINode).delete("n1");
    await attachments.delete("a");
    await settle();
    expect(script.calls.at(-1)).toMatchObject({ method: "ControllerUnpublishVolume", request: { nodeId: "id-n1" } });
    expect((await attachments.list()).items).toEqual([]);
  });

  it("that the driver has lost is attached again", async () => {
    const { attach, script, pass } = await cluster();
    await attach();
    const volume = script.volumes.get("id-of-v");
    if (volume !== undefined) volume.publishedTo = [];
    await pass(61_000);
    expect(volume?.publishedTo).toEqual(["id-n1"]);
  });
});

it.each([
  ["local.csi.k8ts.dev", "external-attacher/local-csi-k8ts-dev"],
  ["a.b.", "external-attacher/a-b-X"],
])("the finalizer of %s is %s", (driver, want) => {
  expect(attacherFinalizer(driver)).toBe(want);
});
