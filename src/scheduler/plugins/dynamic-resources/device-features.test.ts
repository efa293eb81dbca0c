/** Each gate of dynamic resource allocation: its default, and what the scheduler does with stored objects without it. */
import { afterEach, describe, expect, it } from "vitest";
import { defaultFeatures, kinds, optional, parseFeatures, type resource } from "#api";
import { VirtualClock } from "#base";
import type { Informers } from "#client";
import { claimFor, DRIVER, deviceClass, devices, exactly, slice } from "../../testing/devices.ts";
import { node, pod } from "../../testing/index.ts";
import { schedulingServer, testScheduler } from "../../testing/test-scheduler.ts";
import { ALL_DEVICE_FEATURES, deviceFeatures, missingFeature } from "./device-features.ts";
import { Devices } from "./devices.ts";
import { wantedBy } from "./requests.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Row {
  readonly gate: string;
  readonly slice: resource.ResourceSlice;
  readonly claim?: resource.ResourceClaim;
  /** Default: the claim. */
  readonly asks?: "gpus";
  /** With the gate, and without it: the devices of the Pod, or a part of the Event that says why it has none. */
  readonly on: string;
  readonly off: string;
}

const one = claimFor("c", [exactly("r")]);
const local = (parts: Partial<resource.Device>, spec: Partial<resource.ResourceSliceSpec> = {}) =>
  slice("a", devices(1, parts), { on: "a", spec });
const shared = { allowMultipleAllocations: true, capacity: { memory: { value: "8Gi" } } };
const NONE = "1 cannot allocate all claims";

const ROWS: readonly Row[] = [
  {
    gate: "DRAPrioritizedList",
    slice: local({}),
    claim: claimFor("c", [{ name: "r", firstAvailable: [{ name: "best", deviceClassName: "gpu" }] }]),
    on: "gpu-0",
    off: "resource claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled",
  },
  {
    gate: "DRAPartitionableDevices",
    slice: slice("a", devices(1, { nodeName: "a" }), {
      spec: { perDeviceNodeSelection: true, allNodes: undefined as unknown as boolean },
    }),
    on: "gpu-0",
    off: NONE,
  },
  {
    gate: "DRAConsumableCapacity",
    slice: local(shared),
    claim: claimFor("c", [exactly("r", { capacity: { requests: { memory: "1Gi" } } })]),
    on: "gpu-0",
    off: "1 claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled",
  },
  {
    gate: "DRAConsumableCapacity",
    slice: local({ attributes: { model: { string: "x" } } }),
    claim: claimFor("c", [exactly("r")], { constraints: [{ distinctAttribute: `${DRIVER}/model` }] }),
    on: "gpu-0",
    off: "1 claim default/c, constraint #0: empty constraint (unsupported constraint type?)",
  },
  {
    gate: "DRADeviceTaints",
    slice: local({ taints: [{ key: "broken", effect: "NoSchedule" }] }),
    on: NONE,
    off: "gpu-0",
  },
  {
    gate: "DRADeviceBindingConditions",
    slice: local({ bindingConditions: ["attached"], bindingFailureConditions: ["failed"] }),
    on: "waiting for binding conditions for device on node a",
    off: "gpu-0",
  },
  { gate: "DRAExtendedResource", slice: local({}), asks: "gpus", on: "gpu-0", off: "1 Insufficient example.com/gpu" },
];

describe("a gate of dynamic resource allocation", () => {
  it("is on by default, but for DRADeviceTaintRules", () => {
    const found = deviceFeatures((gate) => defaultFeatures.enabled(gate));
    expect(found).toEqual({ ...ALL_DEVICE_FEATURES, deviceTaintRules: false });
  });

  // It is locked in v1.36: only an older emulated version can switch it off.
  it("DRAAdminAccess: refuses requests for admin access", () => {
    const { gate, claim } = { gate: "DRAAdminAccess", claim: claimFor("c", [exactly("r", { adminAccess: true })]) };
    const wanted = wantedBy(claim, deviceClass);
    if ("fault" in wanted) throw new Error(wanted.fault);
    const features = parseFeatures({ gates: `${gate}=false`, emulatedVersion: "1.35" });
    const without = deviceFeatures((name) => features.enabled(name));
    expect([ALL_DEVICE_FEATURES, without].map((each) => missingFeature(wanted, each))).toEqual([
      undefined,
      "claim default/c, request r: admin access is requested, but the feature is disabled",
    ]);
  });

  it.each(ROWS.flatMap((row) => [true, false].map((isOn) => ({ ...row, isOn, want: isOn ? row.on : row.off }))))(
    "$gate=$isOn: $want",
    async ({ gate, isOn, want, slice: given, claim = one, asks }) => {
      const server = await schedulingServer();
      open.push(() => server.close());
      const running = await testScheduler({ server, gates: [`${gate}=${isOn}`] });
      open.push(() => running.close());
      const { client, settle } = running;
      await running.addNode(node("a"));
      const gpu = deviceClass("gpu");
      const extendedResourceName = "example.com/gpu";
      await client.of(kinds.DeviceClass).create({ ...gpu, spec: { ...gpu.spec, extendedResourceName } });
      await client.of(kinds.ResourceSlice).create(JSON.parse(JSON.stringify(given)));
      const claims = client.of(kinds.ResourceClaim).in("default");
      const { uid: _, ...metadata } = claim.metadata;
      await claims.create({ ...claim, metadata });
      const amounts = { [extendedResourceName]: "1" };
      const resources = { requests: amounts, limits: amounts };
      const spec =
        asks === undefined
          ? { resourceClaims: [{ name: "gpu", resourceClaimName: "c" }] }
          : { containers: [{ name: "app", image: "x", resources }] };
      await running.addPod(pod("p", { spec }));
      await settle();
      const isBound = (await running.places()).p === "a";
      const results = (await claims.list()).items.flatMap(({ status }) => status?.allocation?.devices?.results ?? []);
      const got = isBound ? results.map(({ device }) => device).join() : (await running.events("p")).join("\n");
      expect(got).toContain(want);
    },
  );

  it.each([
    { name: "bounds an attempt", isOn: true, filterTimeoutMs: 1_000, want: 1_000 },
    { name: "does not without its gate", isOn: false, filterTimeoutMs: 1_000, want: Number.POSITIVE_INFINITY },
    { name: "does not if it is 0", isOn: true, filterTimeoutMs: 0, want: Number.POSITIVE_INFINITY },
  ])("DRASchedulerFilterTimeout: filterTimeout $name", ({ isOn, filterTimeoutMs, want }) => {
    const informers = { of: () => ({ cache: new Map(), onChange: () => () => {} }) } as unknown as Informers;
    const clock = new VirtualClock();
    const features = { ...ALL_DEVICE_FEATURES, filterTimeout: isOn };
    expect(new Devices(informers, { clock, features, filterTimeoutMs }).deadline() - clock.monotonic()).toBe(want);
  });
});

describe("DeviceTaintRules", () => {
  const taint = { key: "broken", effect: "NoSchedule" } as const;
  async function running(gates: readonly string[]) {
    const found = await testScheduler({ gates });
    open.push(() => found.close());
    const { client } = found;
    await found.addNode(node("a"));
    await client.of(kinds.DeviceClass).create(deviceClass("gpu"));
    await client.of(kinds.ResourceSlice).create(local({}));
    const { uid: _, ...metadata } = one.metadata;
    await client
      .of(kinds.ResourceClaim)
      .in("default")
      .create({ ...one, metadata });
    return found;
  }
  const waiting = pod("p", { spec: { resourceClaims: [{ name: "gpu", resourceClaimName: "c" }] } });

  it("keep Pods from the devices that they select, until they go", async () => {
    const { client, addPod, settle, places, events, clock } = await running(["DRADeviceTaintRules"]);
    const rules = client.of(optional.DeviceTaintRule);
    await rules.create({ metadata: { name: "other" }, spec: { deviceSelector: { device: "gpu-7" }, taint } });
    await rules.create({ metadata: { name: "r" }, spec: { deviceSelector: { driver: DRIVER }, taint } });
    await addPod(waiting);
    await settle();
    expect((await events("p")).join()).toContain(NONE);
    await rules.delete("r");
    await clock.advance(10_000);
    await settle();
    expect(await places()).toEqual({ p: "a" });
  });

  it("do nothing without the gate", async () => {
    const { client, addPod, settle, places } = await running(["DRADeviceTaintRules=false"]);
    await client.of(optional.DeviceTaintRule).create({ metadata: { name: "r" }, spec: { taint } });
    await addPod(waiting);
    await settle();
    expect(await places()).toEqual({ p: "a" });
  });
});
