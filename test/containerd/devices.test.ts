/**
 * Devices on a real node: the simulated driver runs in a Pod, registers with the kubelet, and a Pod that claims a device
 * gets it through CDI: a variable and a device node. A new driver takes it back.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core, resource } from "#api";
import { tool } from "../support/tools.ts";
import { missing } from "./support/leftovers.ts";
import { Machine, WITH_NODE } from "./support/machine.ts";
import { until } from "./support/wait.ts";
import { nodeCommand, nodePod, pod, scripts } from "./support/web.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const DRIVER = "gpu.example.com";
const PROGRAM = "/opt/device-driver";
const DEVICES = `
driver: ${DRIVER}
devices:
- {name: gpu, count: 2, attributes: {model: a100}, env: {GPU_MODEL: a100}, file: /dev/null}
`;

describe.skipIf(why !== "")(`devices of a driver${why && `: ${why}`}`, () => {
  let machine: Machine;
  beforeAll(async () => {
    machine = await Machine.create();
    const folder = join(machine.home.dir, "device-driver");
    mkdirSync(folder);
    writeFileSync(join(folder, "devices.yaml"), DEVICES);
    await build({
      entryPoints: [join(import.meta.dirname, "support", "device-driver.ts")],
      outfile: join(folder, "driver.mjs"),
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
});
