import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { DEFAULT_ARGUMENTS as args } from "../../framework/index.ts";
import { namespace, node, pod, podsWith, term } from "../builders.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";
import { podTopologySpread } from "./pod-topology-spread.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const zoned = (name: string, zone: string) => node(name, { labels: { [ZONE]: zone } });
const four = [zoned("a", "z1"), zoned("b", "z1"), zoned("x", "z2"), zoned("y", "z2")];
const web = { app: "web" };

const near = (...terms: core.PodAffinityTerm[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const away = (...terms: core.PodAffinityTerm[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});

function fitting(plugin: typeof podTopologySpread, wants: core.Pod, pods: readonly core.Pod[], nodes = four) {
  const namespaces = [namespace("default"), namespace("team", { team: "x" })];
  const question = { pod: wants, cluster: { nodes, pods, namespaces }, args };
  return nodes.filter((each) => plugin.filter?.(question, each) === undefined).map(({ metadata }) => metadata.name);
}

function scores(plugin: typeof podTopologySpread, wants: core.Pod, pods: readonly core.Pod[], nodes = four) {
  const question = { pod: wants, cluster: { nodes, pods, namespaces: [namespace("default")] }, args };
  return plugin.score?.(question, nodes);
}

describe("InterPodAffinity", () => {
  const cases = [
    { name: "in the zone of a Pod", spec: near(term(web, ZONE)), pods: podsWith(web, "a", 1), want: ["a", "b"] },
    { name: "on the node of a Pod", spec: near(term(web, HOST)), pods: podsWith(web, "a", 1), want: ["a"] },
    { name: "no such Pod", spec: near(term(web, ZONE)), pods: [], want: [] },
    {
      name: "no such Pod, but it is one itself",
      spec: near(term(web, ZONE)),
      labels: web,
      pods: [],
      want: ["a", "b", "x", "y"],
    },
    {
      name: "one Pod must match all terms",
      spec: near(term(web, ZONE), term({ tier: "front" }, ZONE)),
      pods: [...podsWith(web, "a", 1), ...podsWith({ tier: "front" }, "b", 1)],
      want: [],
    },
    { name: "away from a zone", spec: away(term(web, ZONE)), pods: podsWith(web, "a", 1), want: ["x", "y"] },
    {
      name: "kept away by what runs",
      spec: {},
      labels: web,
      pods: [pod("old", { on: "x", spec: { ...away(term(web, ZONE)), nodeName: "x" } })],
      want: ["a", "b"],
    },
    {
      name: "other namespaces are not meant",
      spec: away(term(web, ZONE)),
      pods: [pod("old", { on: "a", labels: web, namespace: "team" })],
      want: ["a", "b", "x", "y"],
    },
    {
      name: "unless they are selected",
      spec: away(term(web, ZONE, { namespaceSelector: { matchLabels: { team: "x" } } })),
      pods: [pod("old", { on: "a", labels: web, namespace: "team" })],
      want: ["x", "y"],
    },
    {
      name: "or all of them",
      spec: away(term(web, ZONE, { namespaceSelector: {} })),
      pods: [pod("old", { on: "a", labels: web, namespace: "team" })],
      want: ["x", "y"],
    },
  ];
  it.each(cases)("$name", ({ spec, labels = {}, pods, want }) => {
    expect(fitting(interPodAffinity, pod("p", { spec, labels }), pods)).toEqual(want);
  });

  it("scores: own preferences, those of others, and what others require", () => {
    const prefers: Partial<core.PodSpec> = {
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 8, podAffinityTerm: term(web, HOST) }],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 4, podAffinityTerm: term({ app: "db" }, ZONE) }],
        },
      },
    };
    const requires = pod("r", { on: "y", spec: { ...near(term({ app: "me" }, HOST)), nodeName: "y" } });
    const pods = [...podsWith(web, "a", 1), ...podsWith({ app: "db" }, "x", 1), requires];
    // a: +8, b: 0, x: -4, y: -4 + 1 for what r requires.
    const found = scores(interPodAffinity, pod("p", { labels: { app: "me" }, spec: prefers }), pods);
    expect([...(found?.values() ?? [])]).toEqual([100, 33, 0, 8]);
  });

  it("does not score where nobody has a preference", () => {
    expect(scores(interPodAffinity, pod("p"), podsWith(web, "a", 3))).toBeUndefined();
  });
});

describe("PodTopologySpread", () => {
  const constraint = (more: Partial<core.TopologySpreadConstraint> = {}): core.TopologySpreadConstraint => ({
    maxSkew: 1,
    topologyKey: ZONE,
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: web },
    ...more,
  });
  const spread = (...constraints: core.TopologySpreadConstraint[]) => ({ topologySpreadConstraints: constraints });
  const all = ["a", "b", "x", "y"];
  const cases = [
    { name: "nothing there", spec: spread(constraint()), pods: [], want: all },
    { name: "1/0", spec: spread(constraint()), pods: podsWith(web, "a", 1), want: ["x", "y"] },
    { name: "1/0, maxSkew 2", spec: spread(constraint({ maxSkew: 2 })), pods: podsWith(web, "a", 1), want: all },
    {
      name: "by node",
      spec: spread(constraint({ topologyKey: HOST })),
      pods: podsWith(web, "a", 1),
      want: ["b", "x", "y"],
    },
    {
      name: "two at once",
      spec: spread(constraint(), constraint({ topologyKey: HOST })),
      pods: [...podsWith(web, "a", 1), ...podsWith(web, "x", 1)],
      want: ["b", "y"],
    },
    {
      name: "fewer domains than minDomains: the emptiest counts as empty",
      spec: spread(constraint({ minDomains: 3 })),
      pods: [...podsWith(web, "a", 1), ...podsWith(web, "x", 1)],
      want: [],
    },
    {
      name: "nodes that it may not run on have no domain",
      spec: { ...spread(constraint()), nodeSelector: { [ZONE]: "z1" } },
      pods: podsWith(web, "a", 1),
      want: ["a", "b", "x", "y"],
    },
    {
      name: "unless the policy says so",
      spec: { ...spread(constraint({ nodeAffinityPolicy: "Ignore" })), nodeSelector: { [ZONE]: "z1" } },
      pods: podsWith(web, "a", 1),
      want: ["x", "y"],
    },
    {
      name: "Pods that are going don't count",
      spec: spread(constraint()),
      pods: podsWith(web, "a", 1).map((old) => ({
        ...old,
        metadata: { ...old.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" },
      })),
      want: all,
    },
    {
      name: "matchLabelKeys: only those of the same revision",
      spec: spread(constraint({ matchLabelKeys: ["rev"] })),
      pods: podsWith({ app: "web", rev: "1" }, "a", 2),
      want: all,
    },
  ];
  it.each(cases)("$name", ({ spec, pods, want }) => {
    const wants = pod("p", { labels: { ...web, rev: "2" }, spec: spec as Partial<core.PodSpec> });
    expect(fitting(podTopologySpread, wants, pods)).toEqual(want);
  });

  it("needs the label", () => {
    const bare = node("bare");
    const question = {
      pod: pod("p", { labels: web, spec: spread(constraint()) }),
      cluster: { nodes: [bare], pods: [] },
      args,
    };
    expect(podTopologySpread.filter?.(question, bare)).toEqual({
      reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
      unresolvable: true,
    });
  });

  it("scores: 2, 1, 0 and 3 on four nodes", () => {
    const pods = [...podsWith(web, "a", 2), ...podsWith(web, "b", 1), ...podsWith(web, "y", 3)];
    const soft = constraint({ topologyKey: HOST, whenUnsatisfiable: "ScheduleAnyway" });
    const found = scores(podTopologySpread, pod("p", { labels: web, spec: spread(soft) }), pods);
    expect([...(found?.values() ?? [])]).toEqual([20, 60, 100, 0]);
  });

  it("spreads Pods of one Service by default, by node and zone", () => {
    const service: core.Service = { metadata: { name: "web", namespace: "default" }, spec: { selector: web } };
    const pods = [...podsWith(web, "a", 2), ...podsWith(web, "x", 1)];
    const question = { pod: pod("p", { labels: web }), cluster: { nodes: four, pods, services: [service] }, args };
    // By node ln(6), by zone ln(4), 2 + 4 for the skews: a 12.4, b 8.8, x 9.2, y 7.4.
    expect([...(podTopologySpread.score?.(question, four)?.values() ?? [])]).toEqual([58, 83, 83, 100]);
    expect(podTopologySpread.score?.({ ...question, pod: pod("p") }, four)).toBeUndefined();
  });
});
