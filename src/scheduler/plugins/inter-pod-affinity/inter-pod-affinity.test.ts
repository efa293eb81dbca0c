/** Pods that are only nominated to a node keep others away as if they were there, in both directions. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { FastCluster } from "../../testing/fast-cluster.ts";
import { node, pod, term } from "../../testing/index.ts";

const HOST = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";
const UNWANTED = "node(s) didn't satisfy existing pods anti-affinity rules";
const UNWANTED_NEIGHBOUR = "node(s) didn't match pod anti-affinity rules";

const apartFrom = (labels: Record<string, string>, topologyKey: string): Partial<core.PodSpec> => ({
  affinity: {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(labels, topologyKey)] },
  },
});

const web = { app: "web" };
const vip = { app: "vip" };
const important = { priority: 1000 };

interface Case {
  readonly name: string;
  readonly there?: core.Pod;
  readonly nominated: core.Pod;
  readonly pod: core.Pod;
  readonly want: Readonly<Record<string, string>>;
}

const cases: readonly Case[] = [
  {
    name: "by a key by which nobody who is there keeps others away",
    nominated: pod("vip", { labels: vip, spec: { ...important, ...apartFrom(web, HOST) } }),
    pod: pod("p", { labels: web, spec: apartFrom({ app: "db" }, ZONE) }),
    want: { a: UNWANTED },
  },
  {
    name: "by a key by which somebody who is there does",
    there: pod("db", { on: "b", spec: apartFrom(web, HOST) }),
    nominated: pod("vip", { labels: vip, spec: { ...important, ...apartFrom(web, HOST) } }),
    pod: pod("p", { labels: web }),
    want: { a: UNWANTED, b: UNWANTED },
  },
  {
    name: "by their own wish",
    nominated: pod("vip", { labels: vip, spec: important }),
    pod: pod("p", { labels: web, spec: apartFrom(vip, HOST) }),
    want: { a: UNWANTED_NEIGHBOUR },
  },
  {
    name: "not those that are more important",
    nominated: pod("vip", { labels: vip, spec: apartFrom(web, HOST) }),
    pod: pod("p", { labels: web, spec: { ...important, ...apartFrom({ app: "db" }, ZONE) } }),
    want: {},
  },
];

describe("a pod that is nominated to a node", () => {
  it.each(cases)("keeps others away $name", ({ there, nominated, pod: wants, want }) => {
    const zone = { labels: { [ZONE]: "z" } };
    const cluster = new FastCluster({
      nodes: [node("a", zone), node("b", zone)],
      pods: there === undefined ? [] : [there],
    });
    cluster.nominate(nominated, "a");
    const { rejections } = cluster.decide(wants);
    expect(Object.fromEntries([...rejections].map(([name, { reasons }]) => [name, reasons.join()]))).toEqual(want);
  });
});
