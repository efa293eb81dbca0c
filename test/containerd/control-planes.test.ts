/**
 * Three control planes with an etcd member each, and two workers: one `up`, four `join`s, a Deployment and a Service
 * across the workers, then what machines do to people. Each drill says how long nothing was written or read; nothing
 * that was acknowledged may be lost.
 *
 * A few drills run always; K8TS_DRILLS=all runs every one.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { apps } from "../../src/api/index.ts";
import { findEtcd } from "../../src/store/testing/etcd-server.ts";
import { tool } from "../support/tools.ts";
import { ControlPlanes } from "./support/control-planes.ts";
import { type Cost, costOf, Probe } from "./support/drill.ts";
import { missing } from "./support/leftovers.ts";
import { until } from "./support/wait.ts";

const needed = [
  missing,
  tool("kubectl") === undefined && "kubectl 1.36 is missing.",
  findEtcd() === undefined && "etcd is missing.",
];
const why = needed.filter(Boolean).join(" ");
const all = process.env.K8TS_DRILLS === "all";
const IMAGE = "localhost/busybox:1";
const WANTED_MS = 60_000;

describe.skipIf(why !== "")(`control planes on machines of their own${why && `: ${why}`}`, () => {
  const figures: (readonly [string, ...string[]])[] = [];
  let cluster: ControlPlanes;
  let probe: Probe;
  let startMs = 0;

  beforeAll(async () => {
    cluster = await ControlPlanes.make();
    startMs = Date.now();
    await cluster.start();
    figures.push(["up and four joins", "", "", `${seconds(Date.now() - startMs)} s`]);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    const rows = [["drill", "s without writes", "s without reads", "more"], ...figures];
    process.stdout.write(`${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`);
  });

  /** Runs a drill under calls, until they work again; what was acknowledged is there afterwards. */
  const drill = async (name: string, work: () => Promise<string | undefined>): Promise<Cost> => {
    await probe.serves(Date.now());
    const from = Date.now();
    const more = await work();
    await probe.serves(Date.now());
    const cost = costOf(probe.calls, from, Date.now());
    const failed = Object.entries(cost.answers).map(([answer, count]) => `${count} × ${answer}`);
    const notes = [more, cost.failed > 0 && `failed: ${failed.join(", ")}`].filter(Boolean).join("; ");
    figures.push([name, cost.withoutWrites.toFixed(1), cost.withoutReads.toFixed(1), notes]);
    expect(await lost()).toEqual([]);
    return cost;
  };
  const lost = async () => {
    const { acknowledged } = probe;
    const names = await cluster.kubectl("get", "configmaps", "-o", "name");
    const there = new Set(names.split("\n"));
    return acknowledged.filter((name) => !there.has(`configmap/${name}`));
  };

  it("serve a Deployment and a Service across workers, in a minute from nothing", async () => {
    const web: apps.Deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            terminationGracePeriodSeconds: 0,
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: "kubernetes.io/hostname",
                whenUnsatisfiable: "DoNotSchedule",
                labelSelector: { matchLabels: { app: "web" } },
              },
            ],
            containers: [
              { name: "main", image: IMAGE, command: ["sh", "-c", "while true; do hostname | nc -l -p 8080; done"] },
            ],
          },
        },
      },
    };
    await cluster.worker(1).apply(web);
    await cluster.kubectl("expose", "deployment", "web", "--port=80", "--target-port=8080");
    await cluster.kubectl("rollout", "status", "deployment/web", "--timeout=60s");
    const pods = (await cluster.kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
    const names = pods.map((pod) => pod.replace("pod/", ""));
    const nodes = await cluster.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}");
    expect(nodes.split(" ").sort()).toEqual(["worker-1", "worker-2"]);
    const seen = new Set<string>();
    await until(
      async () => {
        const [from = ""] = names;
        const answer = await cluster.kubectl(
          "exec",
          from,
          "--",
          "sh",
          "-c",
          "nc -w 2 web.default 80 < /dev/null; true",
        );
        if (answer.trim() !== "") seen.add(answer.trim());
        return [...seen].sort();
      },
      (found) => found.join() === names.toSorted().join(),
    );
    const tookMs = Date.now() - startMs;
    figures.push(["up, four joins, Deployment and Service", "", "", `${seconds(tookMs)} s`]);
    if (all) expect(tookMs).toBeLessThan(WANTED_MS);
    const members = await cluster.plane(2).ok("members");
    expect(members.match(/ yes /g)).toHaveLength(3);
    const { kubeconfig, server } = cluster.access;
    probe = new Probe(cluster.worker(1), kubeconfig, server);
  });

  it("an API server is killed: what another call does not notice", async () => {
    await drill("kill -9 of a server (API server, controllers, etcd member)", async () => {
      await cluster.killServer(2);
      return undefined;
    });
    await cluster.restart(2);
  });
});

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
