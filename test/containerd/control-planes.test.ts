/**
 * Three control planes with an etcd member each, and two workers: one `up`, four `join`s, a Deployment and a Service
 * across the workers, then what machines do to people. Each drill says how long nothing was written or read; nothing
 * that was acknowledged may be lost.
 *
 * A few drills run always; K8TS_DRILLS=all runs every one. K8TS_DRILL_ROUNDS: rounds of random kills (default: 20 of all
 * drills, else none).
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemRandom } from "../../src/base/index.ts";
import { findEtcd } from "../../src/store/testing/etcd-server.ts";
import { tool } from "../support/tools.ts";
import { ControlPlanes } from "./support/control-planes.ts";
import { type Cost, costOf, Probe } from "./support/drill.ts";
import { movingDeployment, spreadDeployment } from "./support/drill-deployments.ts";
import { missing } from "./support/leftovers.ts";
import { judgeHistory } from "./support/register-history.ts";
import { until } from "./support/wait.ts";

const needed = [
  missing,
  tool("kubectl") === undefined && "kubectl 1.36 is missing.",
  findEtcd() === undefined && "etcd is missing.",
];
const why = needed.filter(Boolean).join(" ");
const all = process.env.K8TS_DRILLS === "all";
const rounds = Number(process.env.K8TS_DRILL_ROUNDS ?? (all ? 20 : 0));
const WANTED_MS = 60_000;
const LONG = { timeout: 900_000 };
/** Minutes each, for whoever asks: no tests otherwise, so that a run of all tests skips none. */
const drillIf = (isWanted: boolean) => (isWanted ? it : () => {}) as typeof it;

describe.skipIf(why !== "")(`control planes on machines of their own${why && `: ${why}`}`, () => {
  const figures: (readonly string[])[] = [["drill", "s without writes", "s without reads", "more"]];
  let cluster: ControlPlanes;
  let probe: Probe;
  let startMs = 0;

  beforeAll(async () => {
    cluster = await ControlPlanes.make();
    startMs = Date.now();
    await cluster.start();
    record(["up and four joins", "", "", `${seconds(Date.now() - startMs)} s`]);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    process.stdout.write(`${figures.map(line).join("\n")}\n`);
  });

  const record = (figure: readonly string[]) => {
    figures.push(figure);
    // All of them take minutes: each is said at once.
    if (all) process.stdout.write(`${line(figure)}\n`);
  };
  /** Runs a drill under calls, until they work again; what was acknowledged is there afterwards. */
  const drill = async (name: string, work: () => Promise<string | undefined>): Promise<Cost> => {
    await probe.serves(Date.now());
    const from = Date.now();
    const more = await work();
    await probe.serves(Date.now());
    const cost = costOf(probe.calls, from, Date.now());
    const failed = Object.entries(cost.answers).map(([answer, count]) => `${count} × ${answer}`);
    const notes = [more, cost.failed > 0 && `failed: ${failed.join(", ")}`].filter(Boolean).join("; ");
    record([name, cost.withoutWrites.toFixed(1), cost.withoutReads.toFixed(1), notes]);
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
    await cluster.worker(1).apply(spreadDeployment());
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
    record(["up, four joins, Deployment and Service", "", "", `${seconds(tookMs)} s`]);
    if (all) expect(tookMs).toBeLessThan(WANTED_MS);
    const members = await cluster.plane(2).ok("members");
    expect(members.match(/ yes /g)).toHaveLength(3);
    const status = await cluster.plane(2).ok("status");
    expect(status.match(/cp-\d .*(leader|follower).* healthy/g)).toHaveLength(3);
    const { kubeconfig, server } = cluster.access;
    probe = new Probe(cluster.worker(1), kubeconfig, server);
  });

  it("an API server is killed, and the next call finds another", async () => {
    const cost = await drill("kill -9 of a server, with its etcd member", async () => {
      await cluster.killServer(2);
      return undefined;
    });
    // A call that was on its way to it is repeated.
    expect(cost.failed).toBeLessThanOrEqual(4);
    await cluster.restart(2);
  });

  it("the etcd member that leads freezes, and another leads", async () => {
    const leader = await cluster.etcdLeader();
    const pid = cluster.etcdPid(leader) ?? 0;
    await drill("the etcd leader is frozen (SIGSTOP)", async () => {
      process.kill(pid, "SIGSTOP");
      await probe.serves(Date.now() + 1_000).finally(() => process.kill(pid, "SIGCONT"));
      return undefined;
    });
  });

  it("the first machine is lost with everything", async () => {
    await drill("the first machine loses power", async () => {
      await cluster.unplug(1);
      await cluster.killMachine(1);
      await probe.serves(Date.now() + 1_000);
      return undefined;
    });
    await cluster.plug(1);
    await cluster.restart(1);
  });

  drillIf(all)(
    "controllers and scheduler lose their leader, and others take over in a lease's time",
    LONG,
    async () => {
      for (const lease of ["kube-controller-manager", "kube-scheduler"]) {
        const holder = await cluster.holderOf(lease);
        await drill(`the leader of ${lease} is killed`, async () => {
          const killedMs = Date.now();
          await cluster.killServer(holder);
          await until(
            () => cluster.holderOf(lease),
            (now) => now !== holder,
          );
          return `another leads after ${seconds(Date.now() - killedMs)} s`;
        });
        await cluster.restart(holder);
      }
    },
  );

  drillIf(all)("a control plane is cut off, that of the etcd leader", LONG, async () => {
    const leader = await cluster.etcdLeader();
    await drill("partition of the control plane that leads etcd", async () => {
      await cluster.unplug(leader);
      await probe.serves(Date.now() + 15_000).finally(() => cluster.plug(leader));
      return undefined;
    });
  });

  drillIf(all)(
    "two etcd members are down: writes get an error, reads of the cache go on, the third can stop, and it recovers",
    LONG,
    async () => {
      const from = Date.now();
      await drill("two control planes of three are down for 15 s", async () => {
        await cluster.killMachine(2);
        await cluster.killMachine(3);
        const path = "/api/v1/namespaces/default/configmaps?resourceVersion=0&limit=500";
        await until(
          () => cluster.kubectl("get", "--raw", path).catch(() => ""),
          (text) => text.includes("ConfigMapList"),
        );
        await until(
          () => probe.calls.filter(({ op, at, status }) => op === "write" && at > from && status >= 500).length,
          (count) => count >= 10,
        );
        await probe.waited(15_000);
        const downMs = Date.now();
        await cluster.plane(1).ok("down");
        const downTookMs = Date.now() - downMs;
        const backMs = Date.now();
        await Promise.all([1, 2, 3].map((number) => cluster.restart(number)));
        await probe.serves(backMs);
        return `down on the third took ${seconds(downTookMs)} s; writes ${seconds(probe.firstWrite(backMs) - backMs)} s after all were started`;
      });
    },
  );

  drillIf(all)("the disk of the etcd leader is slow", LONG, async () => {
    const leader = await cluster.etcdLeader();
    const pid = cluster.etcdPid(leader) ?? 0;
    await drill("the etcd leader stands still for 300 of 600 ms, 20 times", async () => {
      for (let burst = 0; burst < 20; burst++) {
        process.kill(pid, "SIGSTOP");
        await probe.waited(300).finally(() => process.kill(pid, "SIGCONT"));
        await probe.waited(300);
      }
      return undefined;
    });
  });

  drillIf(all)("a node is cut off: its Pods move, and it comes back", LONG, async () => {
    await cluster.worker(1).apply(movingDeployment());
    await cluster.kubectl("rollout", "status", "deployment/mover", "--timeout=60s");
    const nodeOf = () =>
      cluster.kubectl(
        "get",
        "pods",
        "-l",
        "app=mover",
        "-o",
        "jsonpath={range .items[?(@.status.phase=='Running')]}{.spec.nodeName}{' '}{end}",
      );
    await until(nodeOf, (nodes) => nodes.includes("worker-2"));
    await drill("partition of a node", async () => {
      const cutMs = Date.now();
      await cluster.unplug(5);
      await until(
        () => cluster.kubectl("get", "node", "worker-2", "-o", "jsonpath={.spec.taints[*].key}"),
        (taints) => taints.includes("node.kubernetes.io/unreachable"),
      );
      const taintedMs = Date.now();
      await until(nodeOf, (nodes) => nodes.includes("worker-1"));
      const movedMs = Date.now();
      await cluster.plug(5);
      await cluster.kubectl("wait", "--for=condition=Ready", "node/worker-2", "--timeout=60s");
      const readyMs = Date.now();
      await until(nodeOf, (nodes) => nodes.trim() === "worker-1");
      return `tainted after ${seconds(taintedMs - cutMs)} s, its Pod elsewhere after ${seconds(movedMs - cutMs)} s, Ready ${seconds(readyMs - movedMs)} s after its return`;
    });
  });

  drillIf(all)(
    "all servers are off, a worker starts meanwhile, and they come back in another order",
    LONG,
    async () => {
      const uids = () => cluster.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.uid}");
      const before = await uids();
      await drill("all control planes off; a worker restarts; they start as 3, 2, 1", async () => {
        for (const number of [1, 2, 3]) await cluster.killMachine(number);
        await cluster.worker(2).ok("down", "--keep-nodes");
        const worker = cluster.worker(2).ok("up", "--detach");
        const startMs = Date.now();
        await Promise.all([3, 2, 1].map((number) => cluster.restart(number)));
        await probe.serves(startMs);
        await worker;
        return `writes ${seconds(probe.firstWrite(startMs) - startMs)} s after the start`;
      });
      expect(await uids()).toBe(before);
    },
  );

  drillIf(rounds > 0)("random kills under load leave a history that is linearizable", LONG, async () => {
    const random = systemRandom();
    const totals = { registers: 0, sets: 0, unknown: 0 };
    for (let round = 1; round <= rounds; round++) {
      const { kubeconfig, server } = cluster.access;
      const script = join(import.meta.dirname, "support", "register-load.mjs");
      const load = cluster.worker(2).start(process.execPath, script, kubeconfig, server, `register-${round}`, "2", "6");
      await load.printed("ready");
      await probe.waited(1_000);
      const number = 1 + random.integer(3);
      await (random.next() < 0.5 ? cluster.killServer(number) : cluster.killMachine(number));
      await probe.waited(2_000);
      await cluster.restart(number);
      load.process.kill("SIGTERM");
      const { stdout } = await load.ended();
      const { judgements, registers, sets, unknown } = judgeHistory(stdout);
      totals.registers += registers;
      totals.sets += sets;
      totals.unknown += unknown;
      const good = { kind: "linearizable" };
      expect([round, judgements]).toEqual([round, [good, good]]);
    }
    record([
      `${rounds} rounds of random kills`,
      "",
      "",
      `${totals.registers} calls on registers and ${totals.sets} on sets, linearizable; ${totals.unknown} without an outcome`,
    ]);
    expect(await lost()).toEqual([]);
  });

  drillIf(all)("the quorum is lost for good, and one member begins anew", LONG, async () => {
    await probe.stop();
    const acknowledged = probe.acknowledged;
    const startMs = Date.now();
    for (const number of [2, 3, 1]) await cluster.killMachine(number);
    for (const number of [2, 3]) await cluster.plane(number).ok("reset", "--yes");
    await cluster.plane(1).ok("recover", "--force-new-cluster");
    await cluster.restart(1);
    await until(
      () => cluster.kubectl("create", "configmap", `after-${Date.now()}`).catch(() => ""),
      (text) => text.includes("created"),
    );
    const names = await cluster.kubectl("get", "configmaps", "-o", "name");
    const there = new Set(names.split("\n"));
    const gone = acknowledged.filter((name) => !there.has(`configmap/${name}`));
    record([
      "quorum lost for good, recover --force-new-cluster",
      seconds(Date.now() - startMs),
      "",
      `lost: ${gone.length} of ${acknowledged.length}`,
    ]);
    expect(gone).toEqual([]);
    await cluster.joinPlanes(2, 3);
    expect((await cluster.plane(1).ok("members")).match(/ yes /g)).toHaveLength(3);
  });

  drillIf(all)("all members are lost, one begins with a snapshot, and three join it at once", LONG, async () => {
    const first = cluster.plane(1);
    const snapshot = join(first.home.dir, "snapshot");
    const names = async () => (await cluster.kubectl("get", "configmaps", "-o", "name")).trim().split("\n");
    const uids = () => cluster.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.uid}");
    const [before, podsBefore] = [await names(), await uids()];
    await first.ok("snapshot", snapshot);
    await cluster.kubectl("create", "configmap", "after-the-snapshot");
    const startMs = Date.now();
    for (const number of [2, 3, 1]) await cluster.killMachine(number);
    for (const number of [2, 3]) await cluster.plane(number).ok("reset", "--yes");
    rmSync(join(first.home.dataDir, "etcd", "data"), { recursive: true });
    await first.ok("recover", "--from-snapshot", snapshot);
    await cluster.restart(1);
    await until(
      () => cluster.kubectl("create", "configmap", `recovered-${Date.now()}`).catch(() => ""),
      (text) => text.includes("created"),
    );
    const tookMs = Date.now() - startMs;
    const after = await names();
    expect(before.filter((name) => !after.includes(name))).toEqual([]);
    expect(after).not.toContain("configmap/after-the-snapshot");
    const joinMs = Date.now();
    await cluster.joinPlanes(2, 3, 4);
    const joined = `three joined at once in ${seconds(Date.now() - joinMs)} s`;
    record(["all members lost, recover --from-snapshot", seconds(tookMs), "", joined]);
    expect((await first.ok("members")).match(/ yes /g)).toHaveLength(4);
    await first.ok("members", "remove", "cp-4");
    await until(
      () => first.ok("members"),
      (text) => text.match(/ yes /g)?.length === 3,
    );
    // What runs on workers was not touched.
    expect(await uids()).toBe(podsBefore);
    await cluster.kubectl("create", "configmap", "after-all");
  });
});

function line(figure: readonly string[]): string {
  return `| ${figure.join(" | ")} |`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
