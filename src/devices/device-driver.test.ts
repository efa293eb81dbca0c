/** The simulated driver with the kubelet's side of the protocol, over real sockets. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type resource } from "#api";
import { realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, inProcess } from "#client";
import { testServer } from "../apiserver/testing/index.ts";
import { edited } from "../kubelet/devices/cdi.ts";
import { claimedDevices } from "../kubelet/devices/claimed-devices.ts";
import { DraDrivers } from "../kubelet/devices/dra-drivers.ts";
import { PreparedClaims } from "../kubelet/devices/prepared-claims.ts";
import { runPluginRegistry } from "../kubelet/plugins/index.ts";
import type { ContainerConfig } from "../kubelet/runtime/runtime.ts";
import { readDeviceConfig } from "./device-config.ts";
import { DRA_PLUGIN } from "./dra-messages.ts";
import { publishSlices } from "./publish-slices.ts";
import { runDeviceDriver } from "./run-device-driver.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const DRIVER = "gpu.example.com";
const CONFIG = `
driver: ${DRIVER}
devices:
- {name: gpu, count: 2, attributes: {model: a100, cores: 8, ecc: true}, capacity: {memory: 40Gi}, env: {GPU: a100}, file: /dev/null}
`;
const signal = new AbortController().signal;

async function api() {
  const server = await testServer();
  open.push(() => server.close());
  const client = new Client({
    transport: inProcess(server.handle, { name: "admin", groups: ["system:masters"] }),
    clock: server.clock,
  });
  open.push(() => client.close());
  return client;
}

describe("the configuration", () => {
  it("has devices with short attributes, several at once", () => {
    const { driver, devices } = readDeviceConfig(CONFIG);
    expect([driver, devices.map(({ device }) => device)]).toEqual([
      DRIVER,
      ["gpu-0", "gpu-1"].map((name) => ({
        name,
        attributes: { model: { string: "a100" }, cores: { int: 8 }, ecc: { bool: true } },
        capacity: { memory: { value: "40Gi" } },
      })),
    ]);
  });

  it.each([
    ["device: []", "devices: there is no field device; it has driver, devices, resources, failures"],
    ["driver: x", "devices: a list `devices` is needed"],
    ["devices: [{count: 2}]", "devices: a device needs a name"],
    ["devices: [{name: a}, {name: a}]", "devices: a is there twice"],
  ])("%s is refused", (text, want) => {
    expect(() => readDeviceConfig(text)).toThrow(want);
  });
});

describe("slices", () => {
  it("are written once for each node, in parts of 128 devices, anew when devices change, and no more", async () => {
    const client = await api();
    const nodes: core.Node[] = [];
    for (const name of ["a", "b"]) nodes.push(await client.of(kinds.Node).create({ metadata: { name } }));
    const devices = (count: number) => readDeviceConfig(`devices: [{name: gpu, count: ${count}}]`).devices;
    const publish = (count: number) =>
      publishSlices(client, { driver: DRIVER, devices: devices(count) }, nodes, signal);
    const written = async () =>
      (await client.of(kinds.ResourceSlice).list()).items.map(
        ({ spec }) =>
          `${spec.pool.name} ${spec.pool.generation}/${spec.pool.resourceSliceCount}: ${spec.devices?.length}`,
      );
    expect(await publish(130)).toBe(4);
    expect(await written()).toEqual(["a 1/2: 128", "a 1/2: 2", "b 1/2: 128", "b 1/2: 2"]);
    expect(await publish(130)).toBe(0);
    expect(await publish(8)).toBe(4);
    expect(await written()).toEqual(["a 2/1: 8", "b 2/1: 8"]);
  });
});

describe("the driver", () => {
  it("registers, gives Pods their devices through CDI, survives its end, and takes them back", {
    timeout: 30_000,
  }, async () => {
    const client = await api();
    const dir = await mkdtemp(join(tmpdir(), "k8ts-driver-"));
    open.push(() => rm(dir, { recursive: true, force: true }));
    const configPath = join(dir, "devices.yaml");
    await writeFile(configPath, CONFIG);
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    await client.of(kinds.Node).create({ metadata: { name: "a" } });
    const clock = realClock();
    const folders = {
      registrationDir: join(dir, "registry"),
      pluginDir: join(dir, "plugins"),
      devicePluginDir: join(dir, "device-plugins"),
      cdiDir: join(dir, "cdi"),
    };
    const start = () => {
      const tasks = new TaskGroup();
      tasks.run("driver", (running) =>
        runDeviceDriver({ client, configPath, nodeName: "a", ...folders, clock, log: silentLogger }, running),
      );
      return tasks;
    };
    const drivers = new DraDrivers({ clock });
    const kubelet = new TaskGroup();
    open.push(async () => {
      await kubelet.stop();
      await drivers.close();
    });
    kubelet.run("plugins", (running) =>
      runPluginRegistry(
        {
          dir: folders.registrationDir,
          handlers: new Map([[DRA_PLUGIN, drivers]]),
          clock,
          random: seededRandom(1),
          log: silentLogger,
        },
        running,
      ),
    );
    const isKnown = () => {
      try {
        return drivers.get(DRIVER) !== undefined;
      } catch {
        return false;
      }
    };
    const first = start();
    await expect.poll(isKnown, { timeout: 10_000 }).toBe(true);
    expect((await client.of(kinds.ResourceSlice).list()).items.length).toBe(1);

    const claims = client.of(kinds.ResourceClaim).in("default");
    const request = { name: "one", exactly: { deviceClassName: "gpu" } };
    const made = await claims.create({ metadata: { name: "c" }, spec: { devices: { requests: [request] } } });
    const results: resource.DeviceRequestAllocationResult[] = [
      { request: "one", driver: DRIVER, pool: "a", device: "gpu-1" },
    ];
    const reservedFor = [{ resource: "pods", name: "web", uid: "uid-web" }];
    await claims.updateStatus({ ...made, status: { allocation: { devices: { results } }, reservedFor } });
    const pod: core.Pod = {
      metadata: { name: "web", namespace: "default", uid: "uid-web" },
      spec: { containers: [], resourceClaims: [{ name: "gpu", resourceClaimName: "c" }] },
    };
    const devices = claimedDevices({
      objects: { resourceClaim: (namespace, name) => client.of(kinds.ResourceClaim).in(namespace).get(name) },
      driver: (name) => drivers.get(name),
      claims: PreparedClaims.inMemory(),
    });
    await devices.prepare(pod, signal);
    const names = devices.cdiDevices(pod, { name: "app", resources: { claims: [{ name: "gpu" }] } });
    expect(names).toEqual([`${DRIVER}/device=${made.metadata.uid}-gpu-1`]);
    const config = { envs: [], devices: [], mounts: [], cdiDevices: names.map((name) => ({ name })) };
    expect(await edited(config as unknown as ContainerConfig, [folders.cdiDir])).toMatchObject({
      envs: [
        { key: "DEVICE_GPU_1", value: DRIVER },
        { key: "GPU", value: "a100" },
      ],
      devices: [{ containerPath: `/dev/${DRIVER}/gpu-1`, hostPath: "/dev/null", permissions: "rw" }],
    });

    await first.stop();
    await expect.poll(isKnown, { timeout: 10_000 }).toBe(false);
    const second = start();
    open.push(() => second.stop());
    await expect.poll(isKnown, { timeout: 10_000 }).toBe(true);
    await writeFile(configPath, `${CONFIG}failures: {unprepare: not now}`);
    await expect(devices.release("uid-web", signal)).rejects.toThrow("not now");
    await writeFile(configPath, CONFIG);
    await devices.release("uid-web", signal);
    expect(await readdir(folders.cdiDir)).toEqual([]);
  });
});
