import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as hostKubelet from "./host-kubelet.ts";
import { type KubeletFlagOptions, kubeletCommand, kubeletConfig, taints } from "./kubelet.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "k8ts-kubelet-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const load = async () => hostKubelet;
const read = (options: KubeletFlagOptions) =>
  kubeletConfig({ nodeIp: ["10.0.0.1"], hostnameOverride: "Node-1", ...options }, load);

describe("the kubelet's flags", () => {
  it("without any it is as usual", async () => {
    const { config, runtimeEndpoint } = await read({});
    expect(config).toMatchObject({
      nodeName: "node-1",
      nodeIps: ["10.0.0.1"],
      rootDir: "/var/lib/kubelet",
      podLogsRoot: "/var/log/pods",
      clusterDomain: "cluster.local",
      maxPods: 110,
      port: 10250,
    });
    expect(runtimeEndpoint).toBe("unix:///run/containerd/containerd.sock");
  });

  it("logs of a kubelet with a root of its own are below it", async () => {
    expect((await read({ rootDir: "/k" })).config.podLogsRoot).toBe("/k/log/pods");
  });

  it("flags go before the file", async () => {
    const file = join(dir, "config.yaml");
    writeFileSync(
      file,
      "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 20\nclusterDomain: file.local\ncontainerRuntimeEndpoint: unix:///file.sock\n",
    );
    const { config, runtimeEndpoint } = await read({ config: file, clusterDomain: "flag.local." });
    expect(config).toMatchObject({ maxPods: 20, clusterDomain: "flag.local", seccompDefault: false, podPidsLimit: -1 });
    const bounded = await read({ config: file, seccompDefault: true, podMaxPids: 100 });
    expect(bounded.config).toMatchObject({ seccompDefault: true, podPidsLimit: 100 });
    expect(runtimeEndpoint).toBe("unix:///file.sock");
  });

  it("are read as upstream writes them", () => {
    const command = kubeletCommand(load).exitOverride();
    command.parseOptions([
      "--eviction-hard=memory.available<50Mi,nodefs.available<0%",
      "--kube-reserved=cpu=100m,memory=1Gi",
      "--node-labels=a=b,c=",
      "--register-with-taints=dedicated=x:NoSchedule,lone:NoExecute",
      "--cluster-dns=10.96.0.10,10.96.0.11",
      "--seccomp-default",
      "--pod-max-pids=-1",
    ]);
    expect(command.opts()).toMatchObject({
      evictionHard: { "memory.available": "50Mi", "nodefs.available": "0%" },
      kubeReserved: { cpu: "100m", memory: "1Gi" },
      seccompDefault: true,
      podMaxPids: -1,
      nodeLabels: { a: "b", c: "" },
      registerWithTaints: [
        { key: "dedicated", value: "x", effect: "NoSchedule" },
        { key: "lone", effect: "NoExecute" },
      ],
      clusterDns: ["10.96.0.10", "10.96.0.11"],
    });
    expect(() => taints("nothing")).toThrow(/is not a taint/);
  });

  it.each<[KubeletFlagOptions, string]>([
    [{ maxPods: "many" }, "--max-pods must be a whole number, not many."],
    [{ config: "/nowhere" }, "--config /nowhere: "],
  ])("%j is refused", async (options, problem) => {
    await expect(read(options)).rejects.toThrow(problem);
  });
});
