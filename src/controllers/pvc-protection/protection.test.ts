import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { persistentVolumeBinder } from "../persistent-volume/index.ts";
import { volumeProtection } from "../pv-protection/index.ts";
import { podWith, testControllers } from "../testing/index.ts";
import { holds } from "./in-use.ts";
import { claimProtection } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const volume: core.PersistentVolume = {
  metadata: { name: "one" },
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } },
};
const claim: core.PersistentVolumeClaim = {
  metadata: { name: "data", namespace: "default" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const pod = (nodeName?: string): core.Pod => ({
  metadata: { name: "p", namespace: "default" },
  spec: {
    containers: [{ name: "c", image: "i" }],
    volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }],
    ...(nodeName !== undefined && { nodeName }),
  },
});

async function cluster() {
  const running = await testControllers([persistentVolumeBinder(), volumeProtection, claimProtection]);
  open.push(() => running.close());
  const { client, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const volumes = client.of(kinds.PersistentVolume);
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  const pods = client.of(kinds.Pod).in("default");
  await volumes.create(volume);
  await claims.create(claim);
  await settle();
  const names = async () => {
    const [left, asking] = await Promise.all([volumes.list(), claims.list()]);
    return [...left.items, ...asking.items].map(({ metadata }) => metadata.name);
  };
  return { ...running, volumes, claims, pods, names };
}

describe("volumes and claims", () => {
  it("get their finalizers, if they have none", async () => {
    const { volumes, claims } = await cluster();
    expect((await volumes.get("one")).metadata.finalizers).toEqual(["kubernetes.io/pv-protection"]);
    expect((await claims.get("data")).metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]);
  });

  it("outlive their deletion as long as they are in use", async () => {
    const { volumes, claims, pods, settle, names, clock, writes } = await cluster();
    await pods.create(pod("n"));
    await volumes.delete("one");
    await claims.delete("data");
    await settle();
    expect(await names()).toEqual(["one", "data"]);
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
    await pods.delete("p", { gracePeriodSeconds: 0 });
    await settle();
    expect(await names()).toEqual([]);
  });

  it("go at once if nobody uses them, or only a Pod without a node", async () => {
    const { volumes, claims, pods, settle, names } = await cluster();
    await pods.create(pod());
    await claims.delete("data");
    await volumes.delete("one");
    await settle();
    expect(await names()).toEqual([]);
  });

  it("go when the server can be asked again", async () => {
    const { claims, settle, names, refuse, clock } = await cluster();
    refuse(({ method }) => (method === "GET" ? undefined : new StatusError("InternalError", "not now")));
    await claims.delete("data");
    await settle();
    expect(await names()).toEqual(["one", "data"]);
    refuse(() => undefined);
    await clock.advance(60_000);
    expect(await names()).toEqual(["one"]);
  });
});

describe("a volume of an external provisioner", () => {
  it("that is deleted before its claim stays until its provisioner has deleted it", async () => {
    const { volumes, claims, settle } = await cluster();
    const PROVISIONER = "external-provisioner.volume.kubernetes.io/finalizer";
    const object = {
      metadata: {
        finalizers: ["kubernetes.io/pv-protection", PROVISIONER],
        annotations: { "pv.kubernetes.io/provisioned-by": "example.com" },
      },
      spec: { persistentVolumeReclaimPolicy: "Delete" },
    };
    await volumes.patch("one", { type: "merge", object });
    await volumes.delete("one");
    await settle();
    expect((await volumes.get("one")).status?.phase).toBe("Bound");
    await claims.delete("data");
    await settle();
    const { metadata, status } = await volumes.get("one");
    expect(status?.phase).toBe("Released");
    expect(metadata.finalizers).toEqual([PROVISIONER]);
    await volumes.patch("one", { type: "merge", object: { metadata: { finalizers: [] } } });
    await settle();
    expect((await volumes.list()).items).toEqual([]);
  });
});

describe("a claim made for a Pod", () => {
  const owner = podWith("web", { node: "n" });
  const owned = (uid: string): core.PersistentVolumeClaim => ({
    metadata: {
      name: "web-scratch",
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "web", uid, controller: true }],
    },
  });
  const spec = { ...owner.spec, containers: [], volumes: [{ name: "scratch", ephemeral: {} }] };
  const ended = { ...owner.metadata, deletionTimestamp: "2030-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 };
  it.each([
    { name: "is held by it", pod: { ...owner, spec }, uid: "uid-of-web", want: true },
    { name: "is not held by another of its name", pod: { ...owner, spec }, uid: "other", want: false },
    { name: "is not held by one that is done", pod: { metadata: ended, spec }, uid: "uid-of-web", want: false },
  ])("$name", ({ pod: user, uid, want }) => {
    expect(holds(user, owned(uid))).toBe(want);
  });
});
