/** The report of a cluster in words. */
import { describe, expect, it } from "vitest";
import type { ClusterReport } from "../../server/cluster.ts";
import { certificateState, memberRole, versionsOf } from "./cluster.ts";

const node = (name: string, version: string) => ({ name, version }) as ClusterReport["nodes"][number];
const member = (name: string, version: string, more: object = {}) =>
  ({ name, version, isLeader: false, isLearner: false, ...more }) as ClusterReport["storeMembers"][number];
const report = (more: Partial<ClusterReport>) =>
  ({ version: "v1.36.0", nodes: [], storeMembers: [], ...more }) as ClusterReport;

describe("the report of a cluster", () => {
  it.each([
    ["the server alone", report({}), ["v1.36.0: API server, controllers, scheduler"]],
    [
      "nodes of its version, and an older one",
      report({ nodes: [node("a", "v1.36.0"), node("b", "v1.36.0"), node("c", "v1.35.1")] }),
      ["v1.36.0: API server, controllers, scheduler, 2 kubelets", "v1.35.1: kubelet of c"],
    ],
    [
      "etcd; the embedded store has none of its own",
      report({ storeMembers: [member("a", "3.5.1"), member("b", "3.5.1"), member("embedded", "")] }),
      ["v1.36.0: API server, controllers, scheduler", "3.5.1: etcd, 2 members"],
    ],
  ])("has versions: %s", (_, given, want) => {
    expect(versionsOf(given).map(({ version, of }) => `${version}: ${of.join(", ")}`)).toEqual(want);
  });

  it.each([
    ["2026-01-01T00:00:00Z", { tone: "bad", words: "expired" }],
    ["2026-01-12T00:00:01Z", { tone: "busy", words: "10 days" }],
    ["2027-01-02T00:00:00Z", { tone: "good", words: "365 days" }],
  ])("says when a certificate ends: %s", (expires, want) => {
    expect(certificateState(expires, Date.parse("2026-01-02T00:00:00Z"))).toEqual(want);
  });

  it.each([
    ["leader", { isLeader: true }],
    ["learner", { isLearner: true }],
    ["follower", {}],
  ])("says who is %s", (want, more) => {
    expect(memberRole(member("a", "", more))).toBe(want);
  });
});
