import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type core, type resource, StatusError } from "#api";
import { realClock } from "#base";
import { draMethods } from "#devices";
import { servedService, serveGrpc } from "#grpc";
import type { ContainerConfig } from "../runtime/runtime.ts";
import { edited, needsCdiOfItsOwn } from "./cdi.ts";
import { claimedDevices } from "./claimed-devices.ts";
import { DraDrivers } from "./dra-drivers.ts";
import { mountingDevices } from "./mounted-devices.ts";
import { withoutDrivers } from "./pod-devices.ts";
import { PreparedClaims } from "./prepared-claims.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const DRIVER = "gpu.example.com";
const signal = new AbortController().signal;

async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "k8ts-devices-"));
  open.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A driver behind a real socket. `fault`: what it says of every claim. */
async function driver(service: "v1.DRAPlugin" | "v1beta1.DRAPlugin" = "v1.DRAPlugin") {
  const dir = await directory();
  const endpoint = join(dir, "dra.sock");
  const calls: string[] = [];
  const script = { calls, dir, endpoint, fault: "" };
  const server = await serveGrpc(
    endpoint,
    [
      servedService(draMethods(service), {
        NodePrepareResources: async ({ claims }) => {
          calls.push(`prepare ${claims.map(({ name }) => name).join()}`);
          const device = (name: string, requestNames: string[]) => ({
            requestNames,
            poolName: "node-1",
            deviceName: name,
            cdiDeviceIds: [`example.com/gpu=${name}`],
          });
          const devices = [device("gpu-0", ["one"]), device("gpu-1", ["list/second"])];
          const value = script.fault === "" ? { devices, error: "" } : { devices: [], error: script.fault };
          return { claims: claims.map(({ uid }) => ({ key: uid, value })) };
        },
        NodeUnprepareResources: async ({ claims }) => {
          calls.push(`unprepare ${claims.map(({ name }) => name).join()}`);
          return { claims: claims.map(({ uid }) => ({ key: uid, value: { error: script.fault } })) };
        },
      }),
    ],
    { clock: realClock(), onError: () => {} },
  );
  open.push(() => server.close());
  return script;
}

const pod = (name: string, claim = "gpus"): core.Pod => ({
  metadata: { name, namespace: "default", uid: `uid-${name}` },
  spec: { containers: [], resourceClaims: [{ name: "gpu", resourceClaimName: claim }] },
});

const claimFor = (...users: string[]): resource.ResourceClaim => ({
  metadata: { name: "gpus", namespace: "default", uid: "uid-gpus" },
  spec: {},
  status: {
    allocation: {
      devices: { results: [{ request: "one", driver: DRIVER, pool: "node-1", device: "gpu-0" }] },
    },
    reservedFor: users.map((name) => ({ resource: "pods", name, uid: `uid-${name}` })),
  },
});

const using = (request?: string) => ({
  name: "app",
  resources: { claims: [{ name: "gpu", ...(request !== undefined && { request }) }] },
});

/** A node whose API has these claims; `dir` is its disk. */
async function node(claims: () => readonly resource.ResourceClaim[], dir: string) {
  const drivers = new DraDrivers({ clock: realClock() });
  open.push(async () => drivers.close());
  const objects = {
    resourceClaim: async (_: string, name: string) => {
      const found = claims().find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new StatusError("NotFound", `resourceclaims.resource.k8s.io "${name}" not found`);
      return found;
    },
  };
  const prepared = await PreparedClaims.open(dir);
  return { drivers, devices: claimedDevices({ objects, driver: (name) => drivers.get(name), claims: prepared }) };
}

describe("devices of Pods", () => {
  it.each(["v1.DRAPlugin", "v1beta1.DRAPlugin"] as const)(
    "come from a driver with %s, for the requests of containers",
    async (service) => {
      const script = await driver(service);
      const { drivers, devices } = await node(() => [claimFor("web")], script.dir);
      await drivers.register({ name: DRIVER, endpoint: script.endpoint, versions: [service] });
      await devices.prepare(pod("web"), signal);
      expect(devices.cdiDevices(pod("web"), using())).toEqual(["example.com/gpu=gpu-0", "example.com/gpu=gpu-1"]);
      expect(devices.cdiDevices(pod("web"), using("one"))).toEqual(["example.com/gpu=gpu-0"]);
      expect(devices.cdiDevices(pod("web"), using("list"))).toEqual(["example.com/gpu=gpu-1"]);
      expect(devices.cdiDevices(pod("web"), { name: "sidecar" })).toEqual([]);
      await devices.release("uid-web", signal);
      expect(script.calls).toEqual(["prepare gpus", "unprepare gpus"]);
    },
  );

  it("are prepared once for the Pods that share a claim, and given back after the last", async () => {
    const script = await driver();
    const { drivers, devices } = await node(() => [claimFor("a", "b")], script.dir);
    await drivers.register({ name: DRIVER, endpoint: script.endpoint, versions: ["v1.DRAPlugin"] });
    await Promise.all([devices.prepare(pod("a"), signal), devices.prepare(pod("b"), signal)]);
    await devices.release("uid-a", signal);
    expect(script.calls).toEqual(["prepare gpus"]);
    await devices.release("uid-b", signal);
    await devices.release("uid-b", signal);
    expect(script.calls).toEqual(["prepare gpus", "unprepare gpus"]);
  });

  it("are still known to the next kubelet, and are given back by it", async () => {
    const script = await driver();
    const before = await node(() => [claimFor("web")], script.dir);
    await before.drivers.register({ name: DRIVER, endpoint: script.endpoint, versions: ["v1.DRAPlugin"] });
    await before.devices.prepare(pod("web"), signal);
    const after = await node(() => [], script.dir);
    expect(after.devices.cdiDevices(pod("web"), using("one"))).toEqual(["example.com/gpu=gpu-0"]);
    expect([...after.devices.users()]).toEqual(["uid-web"]);
    await expect(after.devices.release("uid-web", signal)).rejects.toThrow(`DRA driver ${DRIVER} is not registered`);
    await after.drivers.register({ name: DRIVER, endpoint: script.endpoint, versions: ["v1.DRAPlugin"] });
    await after.devices.release("uid-web", signal);
    expect([...after.devices.users()]).toEqual([]);
    expect((await PreparedClaims.open(script.dir)).list()).toEqual([]);
  });

  it("are asked for again until the driver has them", async () => {
    const script = await driver();
    const { drivers, devices } = await node(() => [claimFor("web")], script.dir);
    await drivers.register({ name: DRIVER, endpoint: script.endpoint, versions: ["v1.DRAPlugin"] });
    script.fault = "the device is broken";
    await expect(devices.prepare(pod("web"), signal)).rejects.toThrow(
      "NodePrepareResources failed for ResourceClaim gpus: the device is broken",
    );
    script.fault = "";
    await devices.prepare(pod("web"), signal);
    script.fault = "busy";
    await expect(devices.release("uid-web", signal)).rejects.toThrow(
      "NodeUnprepareResources failed for ResourceClaim gpus: busy",
    );
    script.fault = "";
    await devices.release("uid-web", signal);
    expect(script.calls.filter((call) => call.startsWith("prepare")).length).toBe(2);
  });

  it.each<{ name: string; claims: readonly resource.ResourceClaim[]; want: string }>([
    {
      name: "no claim",
      claims: [],
      want: 'fetch ResourceClaim gpus: resourceclaims.resource.k8s.io "gpus" not found',
    },
    {
      name: "not reserved",
      claims: [claimFor("other")],
      want: "pod web (uid-web) is not allowed to use ResourceClaim gpus (uid-gpus)",
    },
    { name: "no driver", claims: [claimFor("web")], want: `DRA driver ${DRIVER} is not registered` },
  ])("are missing: $name", async ({ claims, want }) => {
    const { devices } = await node(() => claims, await directory());
    await expect(devices.prepare(pod("web"), signal)).rejects.toThrow(want);
  });

  it("no driver is taken that speaks another version only", async () => {
    const { drivers } = await node(() => [], await directory());
    await expect(drivers.register({ name: DRIVER, endpoint: "/nowhere", versions: ["v9.DRAPlugin"] })).rejects.toThrow(
      "v9.DRAPlugin",
    );
  });

  it("a Pod without claims needs nothing", async () => {
    const devices = withoutDrivers({ resourceClaim: () => Promise.reject(new Error("nobody asks")) });
    const plain: core.Pod = { metadata: { name: "web", uid: "u" }, spec: { containers: [] } };
    await devices.prepare(plain, signal);
    await devices.release("u", signal);
  });
});

describe("CDI", () => {
  const config = { envs: [{ key: "A", value: "1" }], devices: [], mounts: [] } as unknown as ContainerConfig;
  const asking = (...names: string[]): ContainerConfig => ({ ...config, cdiDevices: names.map((name) => ({ name })) });

  it("becomes variables, device nodes and mounts where the runtime does not know it", async () => {
    const dir = await directory();
    const spec = {
      cdiVersion: "0.5.0",
      kind: "example.com/gpu",
      containerEdits: { env: ["ALL=yes"] },
      devices: [
        {
          name: "0",
          containerEdits: {
            env: ["GPU=a=b"],
            deviceNodes: [{ path: "/dev/gpu", hostPath: "/dev/null", permissions: "r" }],
            mounts: [{ hostPath: "/lib", containerPath: "/gpu", options: ["ro"] }],
          },
        },
        { name: "1", containerEdits: { hooks: [{ hookName: "createContainer", path: "/bin/true" }] } },
      ],
    };
    await writeFile(join(dir, "gpu.json"), JSON.stringify(spec));
    expect(await edited(asking("example.com/gpu=0"), [dir])).toEqual({
      envs: [
        { key: "A", value: "1" },
        { key: "ALL", value: "yes" },
        { key: "GPU", value: "a=b" },
      ],
      devices: [{ containerPath: "/dev/gpu", hostPath: "/dev/null", permissions: "r" }],
      mounts: [{ hostPath: "/lib", containerPath: "/gpu", readonly: true, propagation: "private" }],
    });
    await expect(edited(asking("example.com/gpu=1"), [dir])).rejects.toThrow("hooks of a device needs a runtime");
    await expect(edited(asking("example.com/gpu=2"), [dir])).rejects.toThrow("unresolvable CDI devices");
    expect(await edited(config, ["/nowhere"])).toBe(config);
  });

  it("and other device files are mounted where the node makes none", () => {
    const file = { containerPath: "/dev/gpu", hostPath: "/dev/null" };
    const given = { ...config, devices: [{ ...file, permissions: "rw" }] };
    expect(mountingDevices(given)).toEqual({
      ...config,
      devices: [],
      mounts: [...config.mounts, { ...file, readonly: false, propagation: "private" }],
    });
    expect(mountingDevices(config)).toBe(config);
  });

  it.each([
    ["containerd", "1.6.20~ds1", true],
    ["containerd", "v1.7.2", false],
    ["containerd", "2.0.1", false],
    ["cri-o", "1.30.0", false],
  ])("%s %s needs it of the kubelet: %s", (runtimeName, runtimeVersion, want) => {
    expect(needsCdiOfItsOwn({ runtimeName, runtimeVersion })).toBe(want);
  });
});
