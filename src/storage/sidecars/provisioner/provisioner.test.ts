/** The running provisioner, with the binder of the controller manager, on virtual time. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { GrpcError } from "#grpc";
import { oneForAll } from "../driver-controllers.ts";
import { onEachNode, type ScriptedOptions, scriptedDriver } from "../testing/scripted-driver.ts";
import { NODE_KEY, volumeStory } from "../testing/story.ts";
import { provisioner } from "./index.ts";
import { PROVISIONER_FINALIZER } from "./volume.ts";

const NAME = "example.com";
const WAIT = { volumeBindingMode: "WaitForFirstConsumer" } as const;
const SELECTED = "volume.kubernetes.io/selected-node";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function central(options: ScriptedOptions = {}) {
  const script = scriptedDriver(options);
  const story = await volumeStory(provisioner({ drivers: oneForAll(NAME, script.driver) }));
  open.push(() => story.close());
  return { ...story, script };
}

async function local(...names: readonly string[]) {
  const scripts = new Map(names.map((name) => [name, scriptedDriver({ node: { key: NODE_KEY, name } })]));
  const { controllers, setAway } = onEachNode(NAME, NODE_KEY, scripts);
  const story = await volumeStory(provisioner({ drivers: controllers }), { nodes: names });
  open.push(() => story.close());
  const script = (name: string) => scripts.get(name) ?? scriptedDriver();
  return { ...story, script, setAway };
}

describe("a claim", () => {
  it("gets a volume, is bound to it, and is told so", async () => {
    const { addClass, addClaim, claims, volumes, events, script } = await central();
    await addClass({ mountOptions: ["noatime"], parameters: { tier: "gold", "csi.storage.k8s.io/fstype": "xfs" } });
    const { metadata } = await addClaim();
    const name = `pvc-${metadata.uid}`;
    expect((await claims.get("data")).status).toMatchObject({ phase: "Bound", capacity: { storage: "1Gi" } });
    const volume = await volumes.get(name);
    expect(volume).toMatchObject({
      metadata: {
        annotations: {
          "pv.kubernetes.io/provisioned-by": NAME,
          "volume.kubernetes.io/provisioner-deletion-secret-name": "",
        },
      },
      spec: {
        accessModes: ["ReadWriteOnce"],
        mountOptions: ["noatime"],
        persistentVolumeReclaimPolicy: "Delete",
        storageClassName: "fast",
        csi: { driver: NAME, volumeHandle: `id-of-${name}`, fsType: "xfs", volumeAttributes: { made: "scripted" } },
      },
    });
    expect(volume.metadata.finalizers).toContain(PROVISIONER_FINALIZER);
    expect(volume.spec?.nodeAffinity).toBeUndefined();
    expect(script.calls.find(({ method }) => method === "CreateVolume")?.request).toMatchObject({
      name,
      parameters: { tier: "gold" },
      capacityRange: { requiredBytes: String(2 ** 30) },
      volumeCapabilities: [{ accessMode: { mode: 7 }, mount: { fsType: "xfs", mountFlags: ["noatime"] } }],
    });
    expect((await events()).filter((text) => text.startsWith("Provisioning"))).toEqual([
      'Provisioning: External provisioner is provisioning volume for claim "default/data"',
      `ProvisioningSucceeded: Successfully provisioned volume ${name}`,
    ]);
  });

  it("of another driver's class is left alone", async () => {
    const { addClass, addClaim, script } = await central();
    await addClass({ provisioner: "other.example.com" });
    await addClaim();
    expect(script.calls).toEqual([]);
  });

  it("waits for its first consumer", async () => {
    const { addClass, addClaim, claims, script, settle } = await central();
    await addClass(WAIT);
    await addClaim();
    expect(script.calls).toEqual([]);
    // A driver without topology is asked for no node, but the node has to be there.
    await claims.patch("data", { type: "merge", object: { metadata: { annotations: { [SELECTED]: "gone" } } } });
    await settle();
    expect((await claims.get("data")).metadata.annotations?.[SELECTED]).toBeUndefined();
  });

  it.each<[string, GrpcError]>([
    ["a driver that is away", new GrpcError("UNAVAILABLE", "connection refused")],
    ["a driver that is too slow", new GrpcError("DEADLINE_EXCEEDED", "too late")],
    ["a refusal", new GrpcError("INVALID_ARGUMENT", "no such tier")],
  ])("survives %s, and is tried again after growing waits", async (_, error) => {
    const { addClass, addClaim, claims, script, pass, events } = await central();
    script.fail("CreateVolume", () => error);
    await addClass();
    await addClaim();
    expect(script.called("CreateVolume")).toBe(1);
    expect(await events()).toContain(
      `ProvisioningFailed: failed to provision volume with StorageClass "fast": ${error.message}`,
    );
    await pass(8_000);
    // After 1, 2 and 4 seconds.
    expect(script.called("CreateVolume")).toBe(4);
    script.fail("CreateVolume", () => undefined);
    await pass(10_000);
    expect((await claims.get("data")).status?.phase).toBe("Bound");
  });

  it("that is deleted while the driver may be making its volume leaves none behind", async () => {
    const { addClass, addClaim, claims, volumes, script, pass } = await central();
    await addClass();
    script.fail("CreateVolume", () => new GrpcError("DEADLINE_EXCEEDED", "too late"));
    await addClaim();
    await claims.delete("data");
    script.fail("CreateVolume", () => undefined);
    await pass(5_000);
    expect(script.called("CreateVolume")).toBe(2);
    expect(script.called("DeleteVolume")).toBe(1);
    expect(script.volumes.size).toBe(0);
    expect((await volumes.list()).items).toEqual([]);
  });

  it("that is deleted after a final error is forgotten", async () => {
    const { addClass, addClaim, claims, script, pass } = await central();
    await addClass();
    script.fail("CreateVolume", () => new GrpcError("INVALID_ARGUMENT", "no"));
    await addClaim();
    await claims.delete("data");
    await pass(5_000);
    expect(script.called("CreateVolume")).toBe(1);
  });

  it("is not satisfied by a smaller volume, which is deleted", async () => {
    const { addClass, addClaim, script, events } = await central();
    await addClass();
    script.fail("CreateVolume", (request) => {
      Object.assign(request, { capacityRange: { requiredBytes: "1" } });
      return undefined;
    });
    await addClaim();
    expect((await events()).some((text) => text.includes("created volume capacity 1 less than"))).toBe(true);
    expect(script.volumes.size).toBe(0);
  });
});

describe("a released volume", () => {
  it("is deleted with its storage, once it is detached", async () => {
    const { addClass, addClaim, claims, volumes, client, script, settle, pass, events } = await central();
    await addClass();
    const { metadata } = await addClaim();
    const persistentVolumeName = `pvc-${metadata.uid}`;
    await client.of(kinds.VolumeAttachment).create({
      metadata: { name: "a" },
      spec: { attacher: NAME, nodeName: "n", source: { persistentVolumeName } },
    });
    await claims.delete("data");
    await settle();
    expect(script.called("DeleteVolume")).toBe(0);
    expect(await events()).toContain(
      `VolumeFailedDelete: persistentvolume ${persistentVolumeName} is still attached to node n`,
    );
    await client.of(kinds.VolumeAttachment).delete("a");
    await pass(1_000);
    expect(script.volumes.size).toBe(0);
    expect((await volumes.list()).items).toEqual([]);
  });

  it("stays if its policy is Retain, without the finalizer", async () => {
    const { addClass, addClaim, claims, volumes, script, settle } = await central();
    await addClass();
    const { metadata } = await addClaim();
    const name = `pvc-${metadata.uid}`;
    await volumes.patch(name, { type: "merge", object: { spec: { persistentVolumeReclaimPolicy: "Retain" } } });
    await claims.delete("data");
    await settle();
    const volume = await volumes.get(name);
    expect(volume.status?.phase).toBe("Released");
    expect(volume.metadata.finalizers ?? []).not.toContain(PROVISIONER_FINALIZER);
    expect(script.volumes.size).toBe(1);
  });
});

describe("with a controller on each node", () => {
  const selected = (node: string) => ({ [SELECTED]: node });

  it("a volume is made on the selected node, and deleted there", async () => {
    const { addClass, addClaim, claims, volumes, script, settle } = await local("a", "b");
    await addClass(WAIT);
    const { metadata } = await addClaim("data", {}, selected("b"));
    expect([script("a").volumes.size, script("b").volumes.size]).toEqual([0, 1]);
    const { spec } = await volumes.get(`pvc-${metadata.uid}`);
    expect(spec?.nodeAffinity?.required?.nodeSelectorTerms).toEqual([
      { matchExpressions: [{ key: NODE_KEY, operator: "In", values: ["b"] }] },
    ]);
    await claims.delete("data");
    await settle();
    expect(script("b").volumes.size).toBe(0);
    expect(script("a").called("DeleteVolume")).toBe(0);
  });

  it("a claim gives up a node without room, so that the scheduler selects another", async () => {
    const { addClass, addClaim, claims, script, settle } = await local("a");
    await addClass(WAIT);
    await addClaim("data", { resources: { requests: { storage: "500Gi" } } }, selected("a"));
    expect((await claims.get("data")).metadata.annotations?.[SELECTED]).toBeUndefined();
    await settle();
    expect(script("a").called("CreateVolume")).toBe(1);
  });

  it("a claim that does not wait gets a node that has room", async () => {
    const { addClass, addClaim, claims, script, pass } = await local("a", "b");
    for (const name of ["a", "b"]) {
      const other = name === "a" ? "b" : "a";
      script(name).fail("CreateVolume", () =>
        script(other).called("CreateVolume") === 0 ? new GrpcError("RESOURCE_EXHAUSTED", "full") : undefined,
      );
    }
    await addClass();
    await addClaim();
    await pass(10_000);
    const claim = await claims.get("data");
    expect(claim.status?.phase).toBe("Bound");
    expect(script("a").volumes.size + script("b").volumes.size).toBe(1);
  });

  it("a claim whose node is away is provisioned when it is back", async () => {
    const { addClass, addClaim, claims, setAway, settle, events } = await local("a");
    setAway("a", true);
    await addClass(WAIT);
    await addClaim("data", {}, selected("a"));
    expect((await events()).some((text) => text.includes("on node a is not reachable"))).toBe(true);
    setAway("a", false);
    await settle();
    expect((await claims.get("data")).status?.phase).toBe("Bound");
  });

  it("a clone is made on the node of its source, which is protected meanwhile", async () => {
    const { addClass, addClaim, claims, script, settle } = await local("a", "b");
    await addClass(WAIT);
    await addClaim("data", {}, selected("b"));
    script("b").fail("CreateVolume", () => new GrpcError("ABORTED", "busy"));
    const dataSource: core.TypedLocalObjectReference = { kind: "PersistentVolumeClaim", name: "data" };
    await addClaim("copy", { dataSource }, selected("a"));
    expect((await claims.get("copy")).metadata.annotations?.[SELECTED]).toBe("b");
    expect((await claims.get("data")).metadata.finalizers).toContain(
      "provisioner.storage.kubernetes.io/cloning-protection",
    );
    script("b").fail("CreateVolume", () => undefined);
    await settle();
    expect(script("a").called("CreateVolume")).toBe(0);
  });

  it("a clone ends the protection of its source", async () => {
    const { addClass, addClaim, claims } = await local("a");
    await addClass(WAIT);
    await addClaim("data", {}, selected("a"));
    await addClaim("copy", { dataSource: { kind: "PersistentVolumeClaim", name: "data" } }, selected("a"));
    expect((await claims.get("copy")).status?.phase).toBe("Bound");
    expect((await claims.get("data")).metadata.finalizers ?? []).not.toContain(
      "provisioner.storage.kubernetes.io/cloning-protection",
    );
  });
});
