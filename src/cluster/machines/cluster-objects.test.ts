import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import { type ClusterDescription, clusterObjects, describedCluster } from "./cluster-objects.ts";

const cluster: ClusterDescription = {
  clusterName: "dev",
  endpoint: "10.0.0.1:6443",
  kubernetesVersion: "v1.36.0",
  podRanges: ["10.244.0.0/16"],
  serviceRanges: ["10.100.0.0/16", "fd00:10::/112"],
  dnsDomain: "cluster.local",
  clusterDns: "10.100.0.10",
  proxyMode: "nftables",
  featureGates: { HPAScaleToZero: true },
};
const configs = () => {
  const all = new Map(clusterObjects(cluster).configMaps.map((each) => [each.metadata?.name, each as KubeObject]));
  const named = (name: string) => {
    const found = all.get(name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  };
  return { cluster: named("kubeadm-config"), kubelet: named("kubelet-config"), proxy: named("kube-proxy") };
};

describe("what a machine reads", () => {
  it("is what the cluster is", () => {
    const { endpoint: _, kubernetesVersion: __, ...want } = cluster;
    expect(describedCluster(configs())).toEqual(want);
  });

  it("needs no kube-proxy", () => {
    expect(describedCluster({ ...configs(), proxy: undefined }).proxyMode).toBe("");
  });

  it.each([
    { name: "no ConfigMap of a cluster", data: {}, want: "the ConfigMap kubeadm-config has no ClusterConfiguration" },
    {
      name: "no ranges",
      data: { ClusterConfiguration: "{}" },
      want: "the cluster's configuration has no networking.podSubnet",
    },
  ])("$name is an error", ({ data, want }) => {
    const broken = { metadata: { name: "kubeadm-config" }, data } as KubeObject;
    expect(() => describedCluster({ ...configs(), cluster: broken })).toThrow(want);
  });
});

it("lets a token do what a new node needs, and no more", () => {
  const { clusterRoleBindings, roleBindings } = clusterObjects(cluster);
  const group = "system:bootstrappers:kubeadm:default-node-token";
  const bound = [...clusterRoleBindings, ...roleBindings].filter(({ subjects = [] }) =>
    subjects.some(({ name }) => name === group),
  );
  expect(bound.map(({ roleRef }) => roleRef.name).sort()).toEqual([
    "kube-proxy",
    "kubeadm:get-nodes",
    "kubeadm:kubelet-config",
    "kubeadm:nodes-kubeadm-config",
    "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    "system:node-bootstrapper",
  ]);
});
