/** Files of the kind Cluster: what they mean, what is wrong with them, and their documentation. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readClusterFile } from "./cluster-file.ts";
import { FIELDS } from "./fields.ts";

const HEAD = "apiVersion: k8ts.dev/v1alpha1\nkind: Cluster\n";
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "k8ts-cluster-file-"));
  mkdirSync(join(dir, "manifests"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function read(text: string) {
  const file = join(dir, "cluster.yaml");
  writeFileSync(file, text);
  return readClusterFile(file);
}

describe("a Cluster file", () => {
  it("is flags of up, nodes, and objects", async () => {
    const file = await read(`${HEAD}name: dev
nodes:
- { kind: real, role: worker, extraMounts: [{ hostPath: manifests, containerPath: /in, readOnly: true }], kubelet: { maxPods: 20 } }
- { name: b, labels: { a: b }, taints: [{ key: k, effect: NoSchedule }] }
networking: { apiServerPort: 7000, serviceSubnet: 10.100.0.0/16, kubeProxyMode: iptables }
featureGates: { A: true, B: false }
runtimeConfig: { api/beta: "true" }
store: memory
outside: false
manifests: [manifests]
charts: [{ name: web, chart: manifests, values: { a: 1 } }]
`);
    expect(file).toMatchObject({
      name: "dev",
      kind: "real",
      flags: [
        "--port=7000",
        "--service-cluster-ip-range=10.100.0.0/16",
        "--proxy-mode=iptables",
        "--feature-gates=A=true,B=false",
        "--runtime-config=api/beta=true",
        "--store=memory",
        "--no-outside",
      ],
      nodes: [
        {
          name: "node-1",
          role: "worker",
          mounts: [`${join(dir, "manifests")}:/in:ro`],
          kubelet: { kind: "KubeletConfiguration", maxPods: 20 },
        },
        { name: "b", labels: { a: "b" }, taints: [{ key: "k", effect: "NoSchedule" }] },
      ],
      initial: {
        manifests: [join(dir, "manifests")],
        charts: [{ name: "web", chart: join(dir, "manifests"), namespace: "default", values: { a: 1 } }],
      },
    });
  });

  it.each<[string, string, string]>([
    ["another kind", "kind: Pod\n", "apiVersion: must be k8ts.dev/v1alpha1; kind: must be Cluster"],
    ["an unknown field", `${HEAD}nods: []\n`, 'strict decoding error: unknown field "nods"'],
    ["one of a node", `${HEAD}nodes: [{}, { labls: {} }]\n`, 'strict decoding error: unknown field "nodes[1].labls"'],
    ["another type", `${HEAD}nodes: [{ labels: { a: 1 } }]\n`, "nodes[0].labels: must be a map of strings"],
    ["no list", `${HEAD}nodes: {}\n`, "nodes: must be a list"],
    ["a name", `${HEAD}name: nodes\n`, 'name: "nodes" is no name for a cluster'],
    ["two kinds", `${HEAD}nodes: [{ kind: real }, { kind: simulated }]\n`, "all nodes of a cluster are of one kind"],
    ["the same name twice", `${HEAD}nodes: [{ name: a }, { name: a }]\n`, "nodes[1].name: a is there twice"],
    [
      "an effect",
      `${HEAD}nodes: [{ taints: [{ key: a, effect: No }] }]\n`,
      "nodes[0].taints[0].effect: must be NoSchedule",
    ],
    [
      "a capacity of a real node",
      `${HEAD}nodes: [{ kind: real, cpu: "4" }]\n`,
      "nodes[0].cpu: only simulated nodes have it",
    ],
    [
      "a mount of a simulated node",
      `${HEAD}nodes: [{ kind: simulated, extraMounts: [] }]\n`,
      "nodes[0].extraMounts: only real",
    ],
    [
      "a mount that is not there",
      `${HEAD}nodes: [{ kind: real, extraMounts: [{ hostPath: x, containerPath: /x }] }]\n`,
      "extraMounts[0].hostPath: x does not exist",
    ],
    [
      "a port mapping",
      `${HEAD}nodes: [{ extraPortMappings: [{ containerPort: 80, hostPort: 80 }] }]\n`,
      "extraPortMappings: nodes publish no ports",
    ],
    [
      "a kubelet field without effect",
      `${HEAD}nodes: [{ kind: real, kubelet: { healthzPort: 3 } }]\n`,
      "nodes[0].kubelet.healthzPort (/healthz is served on the secure port): has no effect",
    ],
    [
      "a kubelet field of the cluster",
      `${HEAD}nodes: [{ kind: real, kubelet: { clusterDomain: x } }]\n`,
      "nodes[0].kubelet.clusterDomain: the cluster sets it",
    ],
    ["a manifest that is not there", `${HEAD}manifests: [nowhere.yaml]\n`, "manifests[0]: nowhere.yaml does not exist"],
    [
      "a chart of a repository",
      `${HEAD}charts: [{ name: a, chart: bitnami/nginx }]\n`,
      "charts[0].chart: bitnami/nginx does not exist: name a local folder",
    ],
    ["no YAML", "a: [\n", "--config"],
  ])("with %s is refused", async (_, text, want) => {
    await expect(read(text)).rejects.toThrow(want);
  });

  it("that is missing is refused", async () => {
    await expect(readClusterFile(join(dir, "none.yaml"))).rejects.toThrow("cannot be read: ENOENT");
  });
});

describe("docs/cluster-config.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/cluster-config.md"), "utf8");

  it("has a row for every field, and no other", () => {
    const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]+) \| (.+) \|$/gm)].map(([, ...row]) => row);
    expect(rows).toEqual(FIELDS);
  });

  it("has an example that is valid", async () => {
    const [, example = ""] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
    mkdirSync(join(dir, "charts", "web"), { recursive: true });
    expect((await read(example)).nodes?.map(({ name }) => name)).toEqual(["front", "back"]);
  });
});
