/** A cluster that has something for every page of the dashboard: devices, volumes, images, a release, changes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Running } from "./command.ts";
import type { Home } from "./k8ts.ts";
import type { CommandLine } from "./tools.ts";

const DEVICES = `driver: gpu.example.com
devices:
- {name: gpu, count: 3, attributes: {model: a100, cores: 108}, capacity: {memory: 40Gi}}
- {name: hot, count: 1, attributes: {model: a100}, capacity: {memory: 40Gi}, taints: [{key: hot, value: "92", effect: NoSchedule}]}
resources:
- {name: example.com/fpga, count: 2, unhealthy: [fpga-1]}
`;
const DEVICE_API = "resource.k8s.io/v1";
const wants = (count: number) => ({
  devices: { requests: [{ name: "gpus", exactly: { deviceClassName: "a100", count } }] },
});
const selector = { cel: { expression: 'device.attributes["gpu.example.com"].model == "a100"' } };
const main = (resources: object) => [{ name: "main", image: "app:1", resources }];
const OBJECTS = [
  { apiVersion: DEVICE_API, kind: "DeviceClass", metadata: { name: "a100" }, spec: { selectors: [selector] } },
  { apiVersion: DEVICE_API, kind: "ResourceClaim", metadata: { name: "training" }, spec: wants(2) },
  { apiVersion: DEVICE_API, kind: "ResourceClaim", metadata: { name: "greedy" }, spec: wants(32) },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "train" },
    spec: {
      containers: main({ claims: [{ name: "gpus" }] }),
      resourceClaims: [{ name: "gpus", resourceClaimName: "training" }],
    },
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "fast" },
    spec: { containers: main({ limits: { "example.com/fpga": "1" } }) },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "64Mi" } } },
  },
  // Without a kubelet: it reports what the test says.
  { apiVersion: "v1", kind: "Node", metadata: { name: "ghost" }, spec: { unschedulable: true } },
];

export interface Furnished {
  readonly driver: Running;
  /** A revision before the last changes of the namespace `default`. */
  readonly before: number;
}

export async function furnish(home: Home, kubectl: CommandLine): Promise<Furnished> {
  const file = join(home.dir, "devices.yaml");
  writeFileSync(file, DEVICES);
  const kubeconfig = join(home.dataDir, "kubeconfig");
  const driver = home.start("device-driver", "--kubeconfig", kubeconfig, "--devices", file);
  await kubectl.given(...OBJECTS, release(1, "superseded", 1), release(2, "deployed", 3)).ok("apply", "-f", "-");
  const images = [
    { names: ["registry.example.com/team/storefront@sha256:a", "registry.example.com/team/storefront:1"] },
  ];
  const status = JSON.stringify({ status: { images: images.map((each) => ({ ...each, sizeBytes: 3 * 2 ** 30 })) } });
  await kubectl.ok("patch", "node/ghost", "--subresource=status", "--type=merge", "-p", status);
  await kubectl.ok("create", "deployment", "web", "--image=app:1", "--port=80");
  await kubectl.ok("expose", "deployment", "web");
  await kubectl.ok("create", "secret", "generic", "hidden", "--from-literal=password=hunter2");
  await kubectl.ok("create", "configmap", "old");
  await kubectl.ok("wait", "--for=condition=Ready", "pod/train", "pod/fast", "--timeout=60s");
  await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
  const { revision } = JSON.parse(await kubectl.ok("get", "--raw", "/k8ts/history?at=now")) as { revision: number };
  await kubectl.ok("set", "image", "deployment/web", "app=app:2");
  await kubectl.ok("delete", "configmap", "old");
  await kubectl.ok("create", "configmap", "fresh");
  await kubectl.ok("patch", "secret", "hidden", "-p", '{"stringData":{"password":"correct horse"}}');
  await kubectl.ok("rollout", "status", "deployment/web", "--timeout=60s");
  return { driver, before: revision };
}

/** A revision of a release, as Helm keeps it. */
export function release(version: number, status: string, replicas: number) {
  const packed = gzipSync(
    JSON.stringify({
      name: "shop",
      namespace: "default",
      version,
      info: { status, description: "Upgrade complete", notes: "Open the shop." },
      chart: { metadata: { name: "store", version: "1.2.3", appVersion: "4.5" }, values: { replicas: 1 } },
      config: { replicas },
      manifest: `---\n${["apiVersion: v1", "kind: Service", "metadata:", "  name: web"].join("\n")}\n`,
    }),
  ).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "helm.sh/release.v1",
    metadata: {
      name: `sh.helm.release.v1.shop.v${version}`,
      labels: { owner: "helm", name: "shop", version: `${version}`, status, modifiedAt: "1767225600" },
    },
    data: { release: Buffer.from(packed).toString("base64") },
  };
}
