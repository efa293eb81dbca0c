import { afterEach, describe, expect, it } from "vitest";
import { kinds, type resource } from "#api";
import { testControllers } from "../testing/index.ts";
import { evictionTime } from "./device-taints.ts";
import { deviceTaintEvictionController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const DRIVER = "gpu.example.com";
const TAINT: resource.DeviceTaint = { key: "broken", value: "yes", effect: "NoExecute" };
const claimWith = (tolerations: readonly resource.DeviceToleration[]): resource.ResourceClaim => ({
  metadata: { name: "c" },
  spec: {},
  status: {
    allocation: { devices: { results: [{ request: "r", driver: DRIVER, pool: "n", device: "gpu-0", tolerations }] } },
  },
});

describe("the time of an eviction", () => {
  const added = "2030-01-01T00:00:00Z";
  const from = Date.parse(added);
  it.each<{ name: string; tolerations: readonly resource.DeviceToleration[]; want: number | undefined }>([
    { name: "not tolerated", tolerations: [], want: 0 },
    { name: "another key", tolerations: [{ key: "hot", operator: "Exists" }], want: 0 },
    { name: "another value", tolerations: [{ key: "broken", operator: "Equal", value: "no" }], want: 0 },
    { name: "another effect", tolerations: [{ operator: "Exists", effect: "NoSchedule" }], want: 0 },
    { name: "tolerated", tolerations: [{ key: "broken", operator: "Exists" }], want: undefined },
    {
      name: "for some time",
      tolerations: [{ key: "broken", operator: "Equal", value: "yes", tolerationSeconds: 30 }],
      want: 30_000,
    },
    {
      name: "the shortest time",
      tolerations: [
        { operator: "Exists", tolerationSeconds: 60 },
        { operator: "Exists", tolerationSeconds: 20 },
        { operator: "Exists" },
      ],
      want: 20_000,
    },
  ])("$name", ({ tolerations, want }) => {
    const at = evictionTime([claimWith(tolerations)], () => [{ ...TAINT, timeAdded: added }], from);
    expect(at === undefined ? undefined : at - from).toBe(want);
  });
});

async function cluster(tolerations: readonly resource.DeviceToleration[] = []) {
  const running = await testControllers([deviceTaintEvictionController]);
  open.push(() => running.close());
  const { client, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  await client.of(kinds.Node).create({ metadata: { name: "n" } });
  const slices = client.of(kinds.ResourceSlice);
  const slice = await slices.create({
    metadata: { name: "s" },
    spec: {
      driver: DRIVER,
      nodeName: "n",
      pool: { name: "n", generation: 1, resourceSliceCount: 1 },
      devices: [{ name: "gpu-0" }, { name: "gpu-1" }],
    },
  });
  const pods = client.of(kinds.Pod).in("default");
  const pod = await pods.create({
    metadata: { name: "web" },
    spec: {
      nodeName: "n",
      containers: [{ name: "c", image: "i" }],
      resourceClaims: [{ name: "gpu", resourceClaimName: "c" }],
    },
  });
  const claims = client.of(kinds.ResourceClaim).in("default");
  const request = { name: "r", exactly: { deviceClassName: "gpu", tolerations } };
  const claim = await claims.create({ metadata: { name: "c" }, spec: { devices: { requests: [request] } } });
  const reservedFor = [{ resource: "pods", name: "web", uid: pod.metadata.uid ?? "" }];
  const { status } = claimWith(tolerations);
  await claims.updateStatus({ ...claim, status: { ...status, reservedFor } });
  await settle();
  const taint = async (device: string, taints: readonly resource.DeviceTaint[]) => {
    const now = await slices.get(slice.metadata.name ?? "");
    const devices = (now.spec.devices ?? []).map((each) => (each.name === device ? { ...each, taints } : each));
    await slices.update({ ...now, spec: { ...now.spec, devices } });
    await settle();
  };
  const names = async () =>
    (await pods.list()).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
  const notes = async () => (await client.of(kinds.Event).list()).items.map(({ reason, note }) => `${reason}: ${note}`);
  return { ...running, pods, taint, names, notes };
}

describe("Pods with tainted devices", () => {
  it("go at once, and their condition says why", async () => {
    const { taint, names, notes, pods } = await cluster();
    await taint("gpu-1", [TAINT]);
    await taint("gpu-0", [{ ...TAINT, effect: "NoSchedule" }]);
    expect(await names()).toBe(1);
    await taint("gpu-0", [TAINT]);
    expect(await names()).toBe(0);
    expect(await notes()).toEqual(["DeviceTaintManagerEviction: Marking for deletion"]);
    const [left] = (await pods.list()).items;
    expect(left?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "DisruptionTarget", reason: "DeletionByDeviceTaintManager" }),
    );
  });

  it("stay as long as they tolerate it, and longer if the taint goes", async () => {
    const { taint, names, notes, clock, settle } = await cluster([
      { key: "broken", operator: "Exists", tolerationSeconds: 30 },
    ]);
    await taint("gpu-0", [TAINT]);
    await clock.advance(20_000);
    await taint("gpu-0", []);
    expect(await notes()).toEqual(["DeviceTaintManagerEviction: Cancelling deletion"]);
    await clock.advance(60_000);
    expect(await names()).toBe(1);
    await taint("gpu-0", [TAINT]);
    await clock.advance(31_000);
    await settle();
    expect(await names()).toBe(0);
  });
});
