import { afterEach, describe, expect, it } from "vitest";
import { kinds, optional, parseFeatures, parseRuntimeConfig, type resource, servedKinds } from "#api";
import { testControllers } from "../testing/index.ts";
import { evictionTime } from "./device-taints.ts";
import { deviceTaintEvictionControllerWith } from "./index.ts";

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

async function cluster(tolerations: readonly resource.DeviceToleration[] = [], rules = false) {
  const features = parseFeatures({ gates: `DRADeviceTaintRules=${rules}` });
  const apis = { runtimeConfig: parseRuntimeConfig("api/beta=true"), enabled: features.enabled };
  const running = await testControllers([deviceTaintEvictionControllerWith({ rules })], {
    kinds: servedKinds(apis),
    features,
  });
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

describe("DeviceTaintRules", () => {
  const CONDITION = "EvictionInProgress";
  async function withRules() {
    const running = await cluster([{ key: "slow", operator: "Exists", tolerationSeconds: 30 }], true);
    const { client, settle, clock } = running;
    const rules = client.of(optional.DeviceTaintRule);
    const add = async (name: string, spec: Parameters<typeof rules.create>[0]["spec"]) => {
      await rules.create({ metadata: { name }, spec });
      await settle();
    };
    const condition = async (name: string) => {
      const found = (await rules.get(name)).status?.conditions?.find(({ type }) => type === CONDITION);
      return found && `${found.status} ${found.reason}: ${found.message}`.trim();
    };
    const later = async (ms = 11_000) => {
      await clock.advance(ms);
      await settle();
    };
    return { ...running, rules, add, condition, later };
  }

  it("tell with effect None what they would do, and with NoSchedule do nothing to Pods", async () => {
    const { add, condition, names } = await withRules();
    await add("dry", { deviceSelector: { driver: DRIVER }, taint: { key: "broken", effect: "None" } });
    expect(await condition("dry")).toBe(
      "False NoEffect: 2 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.",
    );
    await add("shut", { taint: { key: "broken", effect: "NoSchedule" } });
    expect(await condition("shut")).toBe("False OtherEffect: Eviction only happens for the NoExecute effect.");
    expect(await names()).toBe(1);
  });

  it.each([
    { name: "another driver", deviceSelector: { driver: "other.example.com" }, left: 1 },
    { name: "another pool", deviceSelector: { driver: DRIVER, pool: "m" }, left: 1 },
    { name: "another device", deviceSelector: { driver: DRIVER, pool: "n", device: "gpu-1" }, left: 1 },
    { name: "its device", deviceSelector: { driver: DRIVER, pool: "n", device: "gpu-0" }, left: 0 },
    { name: "every device", deviceSelector: undefined, left: 0 },
  ])("evict from the devices that they select: $name", async ({ deviceSelector, left }) => {
    const { add, condition, names, later } = await withRules();
    await add("r", { ...(deviceSelector && { deviceSelector }), taint: { key: "broken", effect: "NoExecute" } });
    expect(await names()).toBe(left);
    await later();
    const done = "False Completed: 1 pod evicted since starting the controller.";
    expect(await condition("r")).toBe(left === 0 ? done : "False NotStarted:");
  });

  it("count the Pods that tolerate them for some time, until those go or the rule does", async () => {
    const { add, condition, names, later, rules, notes } = await withRules();
    await add("r", { taint: { key: "slow", effect: "NoExecute" } });
    expect(await condition("r")).toBe("True PodsPendingEviction: 1 pod needs to be evicted in 1 namespace.");
    await rules.delete("r");
    await later(60_000);
    expect(await names()).toBe(1);
    expect(await notes()).toEqual(["DeviceTaintManagerEviction: Cancelling deletion"]);
    await add("again", { taint: { key: "slow", effect: "NoExecute" } });
    await later(31_000);
    expect(await names()).toBe(0);
    await later();
    expect(await condition("again")).toBe("False Completed: 1 pod evicted since starting the controller.");
  });
});
