import { describe, expect, it } from "vitest";
import { ClusterError } from "#cluster";
import { type CsiSidecarsOptions, csiSidecarsCommand, csiSidecarsConfig } from "./csi-sidecars.ts";

function read(...given: readonly (string | Readonly<Record<string, string>>)[]) {
  const args = given.filter((each) => typeof each === "string");
  const env = given.find((each) => typeof each !== "string") ?? {};
  const command = csiSidecarsCommand().action(() => {});
  command
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parse(["--kubeconfig", "k", ...args], { from: "user" });
  return csiSidecarsConfig(command.opts<CsiSidecarsOptions>(), env);
}

describe("the flags of csi-sidecars", () => {
  it("have the defaults of the sidecars", () => {
    expect(read()).toMatchObject({
      csiAddress: "unix:///run/csi/socket",
      sidecars: ["provisioner", "attacher", "resizer", "health-monitor"],
      settings: {
        provisioner: { settings: { immediateTopology: true, strictTopology: false, volumeNamePrefix: "pvc" } },
      },
    });
    expect(read().leaderElection).toBeUndefined();
    expect(read().settings.capacity).toBeUndefined();
  });

  it("reach the sidecars", () => {
    const given = read(
      "--csi-address=/csi/csi.sock",
      "--sidecars=resizer,attacher",
      "--leader-election",
      "--timeout=3s",
    );
    expect(given).toMatchObject({
      csiAddress: "unix:///csi/csi.sock",
      sidecars: ["attacher", "resizer"],
      settings: { attacher: { timeoutMs: 3_000 } },
      leaderElection: { namespace: "kube-system", leaseMs: 15_000 },
    });
    expect(read("--enable-capacity", "--capacity-poll-interval=5m").settings.capacity).toMatchObject({
      pollMs: 300_000,
    });
    expect(read("--enable-node-watcher").settings.health).toMatchObject({ watchesNodes: true });
    expect(read("--feature-gates=CrossNamespaceVolumeDataSource=true").settings.provisioner?.settings).toMatchObject({
      crossNamespace: true,
    });
  });

  it("say who owns capacities", () => {
    const pod = { namespace: "kube-system", name: "csi-0" };
    const env = { NAMESPACE: pod.namespace, POD_NAME: pod.name };
    const owner = (given: Readonly<Record<string, string>>, ...args: readonly string[]) =>
      read(given, "--enable-capacity", ...args).capacityOwner;
    expect(owner(env)).toEqual({ pod, level: 1 });
    expect(owner(env, "--capacity-ownerref-level=2")).toEqual({ pod, level: 2 });
    expect([owner(env, "--capacity-ownerref-level=-1"), owner({}), read(env).capacityOwner]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(() => owner({}, "--capacity-ownerref-level=0")).toThrow("NAMESPACE and POD_NAME");
  });

  it.each([
    ["an unknown sidecar", "--sidecars=snapshotter"],
    ["an unknown gate", "--feature-gates=Topology=true"],
    ["a gate without a value", "--feature-gates=CrossNamespaceVolumeDataSource"],
  ])("refuse %s", (_, flag) => {
    expect(() => read(flag)).toThrow(ClusterError);
  });
});
