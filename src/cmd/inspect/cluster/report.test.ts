import { expect, it } from "vitest";
import type { coordination, core } from "#api";
import { clusterReport, type ReportFacts, reportText } from "./report.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const at = (agoMs: number) => new Date(NOW - agoMs).toISOString();
const lease = (name: string, agoMs: number, metadata: object = {}): coordination.Lease => ({
  metadata: { name, namespace: "kube-system", ...metadata },
  spec: { holderIdentity: `holder-of-${name}`, leaseDurationSeconds: 15, renewTime: at(agoMs) },
});
const node: core.Node = {
  metadata: { name: "one", labels: { "node-role.kubernetes.io/control-plane": "" } },
  spec: { unschedulable: true },
  status: {
    conditions: [{ type: "Ready", status: "Unknown" }],
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  },
};
const member = { isLeader: false, isLearner: true, dbSize: 2_500_000, raftIndexLag: 7, health: "unhealthy" } as const;
const facts: ReportFacts = {
  version: "v1.36.0",
  refused: [],
  nodes: [node],
  leases: [lease("kube-scheduler", 14_000), lease("kube-controller-manager", 16_000), lease("another", 0)],
  servers: [
    lease("apiserver-a", 20_000, { annotations: { "kubernetes.io/peer-advertise-address": "10.0.0.1:6443" } }),
    lease("apiserver-b", 40_000),
  ],
  storeMembers: [{ name: "two", endpoint: "https://10.0.0.2:2379", reason: "no answer", version: "3.5.1", ...member }],
  certificates: [{ name: "apiserver", expires: new Date(NOW + 10 * 24 * 3_600_000).toISOString() }],
  now: NOW,
};

it("says who is alive", () => {
  const { nodes, apiServers, leaders } = clusterReport(facts);
  expect(nodes).toMatchObject([{ status: "NotReady (no heartbeat), cordoned", roles: ["control-plane"] }]);
  expect(apiServers.map(({ name, address, alive }) => [name, address, alive])).toEqual([
    ["apiserver-a", "10.0.0.1:6443", true],
    ["apiserver-b", "", false],
  ]);
  expect(leaders.map(({ component, alive }) => [component, alive])).toEqual([
    ["kube-scheduler", true],
    ["kube-controller-manager", false],
  ]);
});

it("is a table for each", () => {
  const text = reportText(clusterReport(facts), NOW).replace(/ +/g, " ");
  for (const line of [
    "one NotReady (no heartbeat), cordoned control-plane 10.0.0.1 -",
    "apiserver-b - not renewed",
    "kube-scheduler holder-of-kube-scheduler alive",
    "two https://10.0.0.2:2379 learner 3.5.1 2.5 MB 7 unhealthy: no answer",
    "apiserver 2026-01-12 10 days",
  ])
    expect(text).toContain(line);
});

it("has no table of what there is none of", () => {
  const none = {
    version: "",
    refused: [],
    nodes: [],
    leases: [],
    servers: [],
    storeMembers: [],
    certificates: [],
    now: NOW,
  };
  expect(reportText(clusterReport(none), NOW)).toBe("");
});
