/** The device plugins of a node, with the simulated plugin over real sockets. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { core } from "#api";
import { realClock, seededRandom, silentLogger, TaskGroup } from "#base";
import { DEVICE_PLUGIN, deviceRegistrationMethods } from "#devices";
import { openChannel } from "#grpc";
import { readDeviceConfig } from "../../devices/device-config.ts";
import { runDevicePlugin } from "../../devices/run-device-plugin.ts";
import { runPluginRegistry } from "../plugins/index.ts";
import { ANYWHERE, DevicePlugins } from "./device-plugins.ts";
import { serveDeviceRegistration } from "./registration-server.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const GPU = "example.com/gpu";
const FAST = { timeout: 10_000, interval: 20 };
const clock = realClock();
const log = silentLogger;

const container = (name: string, count: number): core.Container => ({
  name,
  resources: { limits: { [GPU]: String(count) } },
});
const pod = (name: string, ...containers: core.Container[]): core.Pod => ({
  metadata: { name, namespace: "default", uid: `uid-${name}` },
  spec: { containers },
});

/** A node's folder with the simulated plugin, and kubelets on it one after the other. */
async function node(config: string) {
  const root = await mkdtemp(join(tmpdir(), "k8ts-plugins-"));
  open.push(() => rm(root, { recursive: true, force: true }));
  const dir = join(root, "device-plugins");
  const registrationDir = join(root, "plugins_registry");
  let text = config;
  const events: string[] = [];
  const running = new Map<string, ReadonlySet<string>>();
  const startPlugin = () => {
    const tasks = new TaskGroup();
    const read = async () => readDeviceConfig(text);
    tasks.run("plugin", (signal) =>
      runDevicePlugin({ read, devicePluginDir: dir, registrationDir, clock, log }, signal),
    );
    open.push(() => tasks.stop());
    return tasks;
  };
  const startKubelet = async () => {
    const plugins = await DevicePlugins.open({
      dir,
      clock,
      log,
      onHealth: (uids) => events.push(`health ${uids.join()}`),
      running: async (uid) => running.get(uid),
      callsOf: () => ({
        record: (_to, what, call) => {
          events.push(what);
          return call();
        },
        waitedFor: () => {},
      }),
    });
    const tasks = new TaskGroup();
    const random = seededRandom(1);
    tasks.run("registration", (signal) => serveDeviceRegistration({ dir, plugins, clock, log }, signal));
    const handlers = new Map([[DEVICE_PLUGIN, plugins]]);
    tasks.run("registry", (signal) =>
      runPluginRegistry({ dir: registrationDir, handlers, clock, random, log }, signal),
    );
    const stop = async () => {
      await tasks.stop();
      await plugins.close();
    };
    open.push(stop);
    return { plugins, stop };
  };
  return {
    dir,
    events,
    running,
    startPlugin,
    startKubelet,
    configure: (next: string) => {
      text = next;
    },
  };
}

const CONFIG = `resources: [{name: ${GPU}, count: 3, numaNodes: [0, 1], env: {MODEL: a}, file: /dev/null, prefers: true, preStart: true}]`;

describe("device plugins", () => {
  it("register, hand out devices, survive kubelets and plugins, and take devices back", {
    timeout: 40_000,
  }, async () => {
    const { dir, events, running, startPlugin, startKubelet, configure } = await node(CONFIG);
    const first = await startKubelet();
    const plugin = startPlugin();
    const amount = (of: typeof first.plugins) => of.amounts().allocatable[GPU];
    await expect.poll(() => amount(first.plugins), FAST).toBe("3");
    await first.plugins.begin(() => true);

    const web = pod("web", container("app", 2));
    expect(await first.plugins.allocate(web, web.spec?.containers[0] as core.Container, ANYWHERE)).toBeUndefined();
    // Two of them lie on NUMA node 0: that is what the plugin prefers.
    expect(first.plugins.held("uid-web", "app").map(({ id, numaNodes }) => [id, numaNodes])).toEqual([
      ["gpu-0", [0]],
      ["gpu-2", [0]],
    ]);
    const app = web.spec?.containers[0] as core.Container;
    expect(await first.plugins.runOptions(web, app)).toMatchObject({
      envs: { EXAMPLE_COM_GPU: "gpu-0,gpu-2", MODEL: "a" },
      devices: [{ containerPath: `/dev/${GPU}/gpu-0`, hostPath: "/dev/null" }, {}],
    });
    expect(events).toEqual([`Allocate ${GPU}: gpu-0, gpu-2`, "PreStartContainer app"]);
    const big = pod("big", container("app", 2));
    expect(await first.plugins.allocate(big, container("app", 2), ANYWHERE)).toBe(
      `requested number of devices unavailable for ${GPU}. Requested: 2, Available: 1`,
    );

    // A device fails: its Pod is told.
    configure(CONFIG.replace("count: 3", "count: 3, unhealthy: [gpu-2]"));
    await expect.poll(() => amount(first.plugins), FAST).toBe("2");
    expect(first.plugins.health("uid-web", "app")).toEqual([
      {
        name: GPU,
        resources: [
          { resourceID: "gpu-0", health: "Healthy" },
          { resourceID: "gpu-2", health: "Unhealthy" },
        ],
      },
    ]);
    expect(events.at(-1)).toBe("health uid-web");
    configure(CONFIG);

    // The next kubelet: what runs goes on, what is new waits until the plugin is there again.
    await first.stop();
    running.set("uid-web", new Set(["app"]));
    const second = await startKubelet();
    expect(await second.plugins.allocate(web, app, ANYWHERE)).toBeUndefined();
    expect(second.plugins.held("uid-web", "app").map(({ id }) => id)).toEqual(["gpu-0", "gpu-2"]);
    await expect.poll(() => amount(second.plugins), FAST).toBe("3");
    await second.plugins.begin(() => true);

    // Without its plugin nothing is healthy; the new one registers again.
    await plugin.stop();
    await expect.poll(() => amount(second.plugins), FAST).toBe("0");
    expect(second.plugins.amounts().capacity[GPU]).toBe("3");
    expect(await second.plugins.allocate(big, container("app", 1), ANYWHERE)).toBe(
      `no healthy devices present; cannot allocate unhealthy devices ${GPU}`,
    );
    startPlugin();
    await expect.poll(() => amount(second.plugins), FAST).toBe("3");
    second.plugins.release("uid-web");
    expect(await second.plugins.allocate(big, container("app", 3), ANYWHERE)).toBeUndefined();

    // Not everybody may register.
    const channel = openChannel(join(dir, "kubelet.sock"), { clock, timeoutMs: 5000 });
    open.push(async () => channel.close());
    const register = (version: string, resourceName: string) =>
      channel.call(deviceRegistrationMethods().Register, { version, endpoint: "x.sock", resourceName });
    await expect(register("v1alpha", GPU)).rejects.toThrow(
      'requested API version "v1alpha" is not supported by kubelet. Supported version is ["v1beta1"]',
    );
    await expect(register("v1beta1", "cpu")).rejects.toThrow('the ResourceName "cpu" is invalid');
  });

  it("register as plugins of other types do, and may refuse", { timeout: 20_000 }, async () => {
    const { startPlugin, startKubelet, configure } = await node(`resources: [{name: ${GPU}, via: registry}]`);
    const { plugins } = await startKubelet();
    startPlugin();
    await plugins.begin(() => true);
    await expect.poll(() => plugins.amounts().allocatable[GPU], FAST).toBe("1");
    configure(`{resources: [{name: ${GPU}, via: registry}], failures: {allocate: broken}}`);
    expect(await plugins.allocate(pod("web"), container("app", 1), ANYWHERE)).toBe(
      "rpc error: code = Internal desc = broken",
    );
    configure(`resources: [{name: ${GPU}, via: registry}]`);
    expect(await plugins.allocate(pod("web"), container("app", 1), ANYWHERE)).toBeUndefined();
  });
});
