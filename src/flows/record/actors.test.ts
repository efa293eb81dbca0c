import { describe, expect, it } from "vitest";
import { actorOf, vouchesFor } from "./actors.ts";

describe("who somebody is in a diagram", () => {
  it.each([
    ["alice", "kubectl/v1.36.4 (linux/amd64) kubernetes/abc", "kubectl"],
    ["alice", "Helm/4.2", "Helm"],
    ["alice", "", "alice"],
    ["system:serviceaccount:kube-system:deployment-controller", "x", "deployment-controller"],
    ["system:serviceaccount:default:operator", "manager/v1", "manager"],
    ["system:node:n1", "kubelet/v1", "kubelet/n1"],
    ["system:kube-scheduler", "x", "scheduler"],
  ])("%s with %s is %s", (user, agent, want) => {
    expect(actorOf(user, agent)).toBe(want);
  });

  it.each([
    ["system:node:n1", "kubelet/n1", true],
    ["system:node:n1", "kubelet/n2", false],
    ["system:serviceaccount:kube-system:job-controller", "job-controller", true],
    ["system:serviceaccount:kube-system:job-controller", "scheduler", false],
    ["alice", "scheduler", false],
    ["system:kube-proxy", "dns/10.96.0.10", true],
    ["system:serviceaccount:kube-system:kube-dns", "dns/10.96.0.10", true],
    ["system:serviceaccount:kube-system:kube-dns", "proxy/n1", false],
    ["system:kube-scheduler", "scheduler", true],
  ])("%s speaks for %s: %s", (user, actor, want) => {
    expect(vouchesFor(user, actor)).toBe(want);
  });
});
