/** Pods with CSI volumes on simulated nodes. Nobody attaches volumes here but the test. */
import { afterEach, describe, expect, it } from "vitest";
import { kinds } from "#api";
import { retryMs } from "./attached-volumes.ts";
import { type TestFleet, type TestFleetOptions, testFleet } from "./testing/index.ts";

let cluster: TestFleet;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const NAME = "kubernetes.io/csi/example.com^h";
const started = async (options?: TestFleetOptions) => {
  cluster = await testFleet(options);
  const { close } = cluster;
  open.push(close);
  return cluster;
};

/** A claim that is bound to a volume of this source. */
async function bound(name: string, source: object): Promise<void> {
  const { client } = cluster;
  const modes = { accessModes: ["ReadWriteOnce"] as const };
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  const made = await claims.create({
    metadata: { name },
    spec: { ...modes, storageClassName: "", volumeName: `pv-${name}`, resources: { requests: { storage: "1Gi" } } },
  });
  const claimRef = { namespace: "default", name, uid: made.metadata.uid ?? "" };
  await client.of(kinds.PersistentVolume).create({
    metadata: { name: `pv-${name}` },
    spec: { ...modes, capacity: { storage: "1Gi" }, persistentVolumeReclaimPolicy: "Retain", claimRef, ...source },
  });
  await claims.updateStatus({ ...made, status: { phase: "Bound" } });
}

const CSI = { csi: { driver: "example.com", volumeHandle: "h" } };
const withClaim = { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] };
const attach = (...names: readonly string[]) =>
  cluster.client
    .of(kinds.Node)
    .subresource("node-1", "status")
    .patch({
      type: "merge",
      object: { status: { volumesAttached: names.map((name) => ({ name, devicePath: "" })) } },
    });
const phase = async (name: string) => (await cluster.get(name))?.status?.phase;
const inUse = async () => (await cluster.node()).status?.volumesInUse ?? [];

describe("a Pod with a CSI volume", () => {
  it("is Pending until the volume is attached; the node reports the volume in use from before to after", async () => {
    await started();
    await bound("data", CSI);
    await cluster.pod("p", withClaim);
    await cluster.clock.advance(60_000);
    expect((await cluster.get("p"))?.status).toMatchObject({
      phase: "Pending",
      containerStatuses: [{ state: { waiting: { reason: "ContainerCreating" } } }],
    });
    expect(await inUse()).toEqual([NAME]);
    await attach("kubernetes.io/csi/example.com^other");
    await cluster.clock.advance(1_000);
    expect(await phase("p")).toBe("Pending");
    await attach(NAME);
    await cluster.clock.advance(1_000);
    expect(await phase("p")).toBe("Running");
    await cluster.client.of(kinds.Pod).in("default").delete("p");
    await cluster.clock.advance(60_000);
    expect(await cluster.get("p")).toBeUndefined();
    expect(await inUse()).toEqual([]);
    expect(cluster.complaints).toEqual([]);
  });

  it("goes when it is deleted before that", async () => {
    await started();
    await bound("data", CSI);
    await cluster.pod("p", withClaim);
    await cluster.clock.advance(1_000);
    await cluster.client.of(kinds.Pod).in("default").delete("p");
    await cluster.clock.advance(2_000);
    expect(await cluster.get("p")).toBeUndefined();
    expect(await inUse()).toEqual([]);
  });

  it("meets its deadline also while it waits", async () => {
    await started();
    await bound("data", CSI);
    await cluster.pod("p", { ...withClaim, activeDeadlineSeconds: 20 });
    await cluster.clock.advance(30_000);
    expect((await cluster.get("p"))?.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
    expect(await inUse()).toEqual([]);
  });

  it("gives the volume back when it has finished", async () => {
    await started();
    await bound("data", CSI);
    const containers = [{ name: "c", image: "i", command: ["true"] }];
    await cluster.pod("p", { ...withClaim, containers, restartPolicy: "Never" });
    await attach(NAME);
    await cluster.clock.advance(10_000);
    expect(await phase("p")).toBe("Succeeded");
    expect(await inUse()).toEqual([]);
  });

  it("keeps it in use when its node starts again", async () => {
    const { server, stop } = await started();
    await bound("data", CSI);
    await cluster.pod("p", withClaim);
    await attach(NAME);
    await cluster.clock.advance(5_000);
    expect(await phase("p")).toBe("Running");
    await stop();
    await started({ server });
    await cluster.clock.advance(600_000);
    expect(await phase("p")).toBe("Running");
    expect(await inUse()).toEqual([NAME]);
  });
});

describe("a Pod with another volume", () => {
  it("starts when its claim is bound", async () => {
    await started();
    await cluster.pod("p", withClaim);
    await cluster.clock.advance(30_000);
    expect(await phase("p")).toBe("Pending");
    await bound("data", { hostPath: { path: "/data" } });
    await cluster.clock.advance(11_000);
    expect(await phase("p")).toBe("Running");
    expect(await inUse()).toEqual([]);
  });

  it("looks for its claim ever less often", () => {
    expect([0, 1, 2, 20].map(retryMs)).toEqual([500, 1_000, 2_000, 10_000]);
  });
});
