/**
 * Devices on a real node: the simulated driver runs in a Pod, registers with the kubelet, and a Pod that claims a device
 * gets it through CDI: a variable and a device node. A new driver takes it back. The same driver is a device plugin.
 */
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, resource } from "#api";
import { nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine, WITH_NODE } from "./support/machine.ts";
import { until } from "./support/wait.ts";
import { nodeCommand, nodePod, pod, scripts } from "./support/web.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const DRIVER = "gpu.example.com";
const FPGA = "example.com/fpga";
const PROGRAM = "/opt/device-driver";
const DEVICES = `
driver: ${DRIVER}
devices:
- {name: gpu, count: 2, attributes: {model: a100}, env: {GPU_MODEL: a100}, file: /dev/null}
resources:
- {name: ${FPGA}, count: 2, env: {FPGA_MODEL: x1}, file: /dev/null}
`;

describe.skipIf(why !== "")(`devices of a driver${why && `: ${why}`}`, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await Machine.create();
    const folder = join(machine.home.dir, "device-driver");
    mkdirSync(folder);
    writeFileSync(join(folder, "devices.yaml"), DEVICES);
    const programs = { driver: "device-driver.ts", resources: "pod-resources.ts" };
    await build({
      entryPoints: Object.fromEntries(
        Object.entries(programs).map(([name, file]) => [name, join(import.meta.dirname, "support", file)]),
      ),
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      platform: "node",
      format: "esm",
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      logLevel: "silent",
    });
    const up = ["up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0"];
    await machine.ok(...up, ...WITH_NODE, "--node-mount", `${folder}:${PROGRAM}:ro`);
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  /** The folders of the node that the driver shares with kubelet and runtime. */
  const FOLDERS = ["/var/lib/kubelet", "/var/run/cdi"];
  const driverPod = (): core.Pod => {
    const {
      volumes = [],
      containers,
      ...spec
    } = nodePod({
      command: [nodeCommand, `${PROGRAM}/driver.mjs`, `${PROGRAM}/devices.yaml`, "node-1"],
      securityContext: { privileged: true },
    });
    const own = [...FOLDERS, PROGRAM].map((path, at) => ({ name: `own-${at}`, path }));
    return pod(
      "driver",
      {},
      {
        ...spec,
        volumes: [
          ...volumes,
          ...own.map(({ name, path }) => ({ name, hostPath: { path, type: "DirectoryOrCreate" as const } })),
        ],
        containers: containers.map((container) => ({
          ...container,
          volumeMounts: [
            ...(container.volumeMounts ?? []),
            ...own.map(({ name, path }) => ({ name, mountPath: path })),
          ],
        })),
      },
    );
  };
  const deviceClass: resource.DeviceClass = {
    apiVersion: "resource.k8s.io/v1",
    kind: "DeviceClass",
    metadata: { name: "gpu" },
    spec: { selectors: [{ cel: { expression: `device.attributes["${DRIVER}"].model == "a100"` } }] },
  };
  const template: resource.ResourceClaimTemplate = {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    metadata: { name: "gpu" },
    spec: { spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gpu" } }] } } },
  };
  const claiming = (name: string, more: Partial<core.PodSpec> = {}): core.Pod =>
    pod(
      name,
      {},
      {
        terminationGracePeriodSeconds: 1,
        resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpu" }],
        containers: [
          {
            name: "main",
            image: "localhost/busybox:1",
            command: ["sleep", "3600"],
            resources: { claims: [{ name: "gpu" }] },
          },
        ],
        ...more,
      },
    );
  const inDriver = (...command: readonly string[]) => machine.kubectl("exec", "driver", "--", ...command);

  it("reach Pods through CDI, and are taken back", { timeout: 300_000 }, async () => {
    const account = ["--clusterrole=cluster-admin", "--serviceaccount=default:default"];
    await machine.kubectl("create", "clusterrolebinding", "driver", ...account);
    await machine.apply(scripts);
    await machine.apply(driverPod());
    for (const object of [deviceClass, template]) await machine.apply(object);
    await machine.kubectl("wait", "--for=condition=Ready", "pod/driver", "--timeout=90s");
    await machine.apply(claiming("web"));
    await machine.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=90s");
    const { items: claims } = await machine.json<{ items: readonly resource.ResourceClaim[] }>("get", "resourceclaims");
    const [device = ""] = claims
      .flatMap(({ status }) => status?.allocation?.devices?.results ?? [])
      .map((one) => one.device);
    const variables = await machine.kubectl("exec", "web", "--", "env");
    expect(variables).toContain(`DEVICE_${device.toUpperCase().replace("-", "_")}=${DRIVER}\n`);
    expect(variables).toContain("GPU_MODEL=a100\n");
    expect(await machine.kubectl("exec", "web", "--", "ls", "-l", `/dev/${DRIVER}/${device}`)).toMatch(/^c.* 1, +3 /);
    expect((await inDriver("ls", "/var/run/cdi")).trim()).toMatch(/^gpu\.example\.com-.*\.json$/);

    // Without its claim a Pod does not start, wherever it was put.
    const missingClaim = { nodeName: "node-1", resourceClaims: [{ name: "gpu", resourceClaimName: "nope" }] };
    await machine.apply(claiming("lost", missingClaim));
    const events = await until(
      () => machine.kubectl("get", "events", "--field-selector=involvedObject.name=lost"),
      (text) => text.includes("FailedPrepareDynamicResources"),
      60_000,
    );
    expect(events).toContain('fetch ResourceClaim nope: resourceclaims.resource.k8s.io "nope" not found');

    // Another driver finds what the first one left.
    await machine.kubectl("delete", "pod", "driver", "--timeout=60s");
    await machine.apply(driverPod());
    await machine.kubectl("wait", "--for=condition=Ready", "pod/driver", "--timeout=90s");
    await machine.kubectl("delete", "pod", "web", "lost", "--timeout=90s");
    expect((await inDriver("ls", "/var/run/cdi")).trim()).toBe("");
    await until(
      () => machine.json<{ items: readonly object[] }>("get", "resourceclaims"),
      ({ items }) => items.length === 0,
      60_000,
    );
  });

  const wanting = (name: string, count: number, more: Partial<core.PodSpec> = {}): core.Pod =>
    pod(
      name,
      {},
      {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "main",
            image: "localhost/busybox:1",
            command: ["sleep", "3600"],
            resources: { limits: { [FPGA]: String(count) } },
          },
        ],
        ...more,
      },
    );
  const allocatable = async () =>
    (await machine.json<core.Node>("get", "node", "node-1")).status?.allocatable?.[FPGA] ?? "none";
  const isAllocatable = (count: string) => until(allocatable, (found) => found === count, 60_000);
  const containerOf = async (name: string) => {
    const [found] = (await machine.json<core.Pod>("get", "pod", name)).status?.containerStatuses ?? [];
    return found;
  };
  /** The process that is 1 in the Pod's own view. */
  const pidOfDriver = async () => {
    const namespace = (await inDriver("readlink", "/proc/1/ns/pid")).trim();
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const own = pids.filter((pid) => linkOf(`/proc/${pid}/ns/pid`) === namespace).map(Number);
    return Math.min(...own);
  };

  it("of a plugin reach Pods, survive kill -9 of kubelet and plugin, and are free again", {
    timeout: 300_000,
  }, async () => {
    await isAllocatable("2");
    await machine.apply(wanting("web", 1));
    await machine.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=90s");
    const variables = await machine.kubectl("exec", "web", "--", "env");
    const id = /EXAMPLE_COM_FPGA=(fpga-[01])\n/.exec(variables)?.[1] ?? "no device";
    expect(variables).toContain("FPGA_MODEL=x1\n");
    const look = () => machine.kubectl("exec", "web", "--", "ls", "-l", `/dev/${FPGA}/${id}`);
    expect(await look()).toMatch(/^c.* 1, +3 /);
    const before = await containerOf("web");
    expect(before?.allocatedResourcesStatus).toEqual([
      { name: FPGA, resources: [{ resourceID: id, health: "Healthy" }] },
    ]);
    const held = async () => {
      const text = await inDriver(nodeCommand, `${PROGRAM}/resources.mjs`);
      const pods = JSON.parse(text) as {
        readonly name: string;
        readonly containers: readonly { readonly devices: readonly { readonly deviceIds: readonly string[] }[] }[];
      }[];
      const found = pods.find(({ name }) => name === "web");
      return found?.containers.flatMap(({ devices }) => devices.flatMap(({ deviceIds }) => deviceIds));
    };
    expect(await held()).toEqual([id]);

    // One that passed by the scheduler gets none.
    await machine.apply(wanting("greedy", 2, { nodeName: "node-1" }));
    const rejected = await until(
      () => machine.json<core.Pod>("get", "pod", "greedy"),
      ({ status }) => status?.phase === "Failed",
      60_000,
    );
    expect([rejected.status?.reason, rejected.status?.message]).toEqual([
      "UnexpectedAdmissionError",
      `Pod was rejected: Allocate failed due to requested number of devices unavailable for ${FPGA}. Requested: 2, Available: 1, which is unexpected`,
    ]);

    // The kubelet ends, and the plugin registers with the next one.
    const run = async () => (await readNode(nodeNames(siteNames(machine.home.dataDir), "node-1")))?.run;
    const kubelet = (await run())?.kubelet?.pid ?? 0;
    process.kill(kubelet, "SIGKILL");
    await until(run, (found) => found?.state === "running" && found.kubelet?.pid !== kubelet, 60_000);
    await until(
      () => held().catch(() => undefined),
      (found) => found?.[0] === id,
      60_000,
    );
    await isAllocatable("2");
    // The plugin ends; its container starts again.
    process.kill(await pidOfDriver(), "SIGKILL");
    await isAllocatable("0");
    await isAllocatable("2");
    const after = await containerOf("web");
    expect([after?.containerID, after?.restartCount]).toEqual([before?.containerID, 0]);
    expect(await look()).toMatch(/^c.* 1, +3 /);

    await machine.kubectl("delete", "pod", "web", "greedy", "--timeout=90s");
    await machine.apply(wanting("both", 2));
    await machine.kubectl("wait", "--for=condition=Ready", "pod/both", "--timeout=90s");
    expect(await machine.kubectl("exec", "both", "--", "env")).toContain("EXAMPLE_COM_FPGA=fpga-0,fpga-1\n");
    await machine.kubectl("delete", "pod", "both", "--timeout=90s");
  });
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // it has just ended
  }
}
