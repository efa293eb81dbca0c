/**
 * kill -9 for a node's kubelet and containerd in turn, while Pods come and go: what is to live goes on as it was, what
 * is to go goes, and the node has nothing in the end that it did not have before. K8TS_KILL_ROUNDS says how often
 * (default 6).
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { core } from "../../src/api/index.ts";
import { realClock } from "../../src/base/index.ts";
import { type NodeRun, nodeNames, readNode, siteNames } from "../../src/cluster/nodes/index.ts";
import { tool } from "../support/tools.ts";
import { inventory } from "./support/inventory.ts";
import { missing } from "./support/leftovers.ts";
import { Machine } from "./support/machine.ts";
import { until } from "./support/wait.ts";

const why = tool("kubectl") === undefined ? `${missing} kubectl 1.36 is missing.` : missing;
const ROUNDS = Number(process.env.K8TS_KILL_ROUNDS ?? "6");
const ROUND_MS = 1500;
const STAYERS = ["stays-1", "stays-2", "stays-3"];

describe.skipIf(why !== "")(`kill -9 under churn${why && `: ${why}`}`, { timeout: 120_000 + ROUNDS * 30_000 }, () => {
  const clock = realClock();
  let machine: Machine;
  let node: ReturnType<typeof nodeNames>;

  beforeAll(async () => {
    machine = await Machine.create();
    node = nodeNames(siteNames(machine.home.dataDir), "node-1");
    await machine.ok("up", "--detach", "--runtime", "containerd", "--nodes", "1", "--port", "0");
    for (const name of STAYERS) {
      const command = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.2; done"];
      const containers = [{ name: "main", image: "localhost/busybox:1", command }];
      await machine.apply({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers } });
    }
    await machine.kubectl("wait", "--for=condition=Ready", "--timeout=90s", ...STAYERS.map((name) => `pod/${name}`));
  }, 240_000);
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    expect(machine?.leftovers()).toEqual([]);
  });

  const runOf = async (): Promise<NodeRun | undefined> => (await readNode(node))?.run;

  /** Its successor runs by then. */
  async function kill(part: "kubelet" | "containerd"): Promise<number> {
    const before = (await runOf())?.[part];
    const start = clock.monotonic();
    process.kill(before?.pid ?? 0, "SIGKILL");
    await until(runOf, (found) => found?.state === "running" && found[part]?.pid !== before?.pid, 60_000);
    return clock.monotonic() - start;
  }

  const instances = async () => {
    const { items } = await machine.json<{ items: core.Pod[] }>("get", "pods", ...STAYERS).catch(() => ({ items: [] }));
    return items.map(({ metadata, status }) => {
      const [container] = status?.containerStatuses ?? [];
      return [metadata.name, status?.phase, status?.podIP, container?.containerID, container?.restartCount];
    });
  };

  it(`${ROUNDS} rounds: nothing is lost, doubled or left behind`, async () => {
    const before = await inventory(machine.home.dataDir, "node-1");
    const lived = await instances();
    const script = join(import.meta.dirname, "support", "churn.ts");
    const churn = machine.start(process.execPath, script, machine.home.kubeconfig, "node-1", "5");
    await churn.printed("ready");
    const back: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await clock.sleep(ROUND_MS);
      back.push(await kill(round % 2 === 0 ? "kubelet" : "containerd"));
    }
    churn.process.kill("SIGTERM");
    const ended = await churn.ended();
    expect(ended.stderr).toBe("");
    expect(ended.stdout).toMatch(/made \d+\n$/);
    console.log(`${ended.stdout.trim().split("\n").at(-1)} Pods; back after ${back.map(Math.round).join(", ")} ms`);
    expect(await instances()).toEqual(lived);
    const missed = (after: string[]) => before.filter((each) => !after.includes(each)).map((each) => `lost: ${each}`);
    const added = (after: string[]) => after.filter((each) => !before.includes(each)).map((each) => `left: ${each}`);
    await until(
      async () => {
        const after = await inventory(machine.home.dataDir, "node-1");
        return [...missed(after), ...added(after)];
      },
      (changes) => changes.length === 0,
      90_000,
    );
    expect(await instances()).toEqual(lived);
  });
});
