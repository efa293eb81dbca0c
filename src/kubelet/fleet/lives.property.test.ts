/**
 * Whatever happens to Pods: the API server accepts every report, and a final phase is never left.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { nextTurn } from "#base";
import { isFinal } from "../pod-status/index.ts";
import { STOPPED } from "./node-report.ts";
import { testFleet } from "./testing/index.ts";

const COMMANDS = ["true", "false", "sleep 1", "sleep 3; exit 2", "sleep 30", "sleep infinity"];

const container = fc.record({
  command: fc.constantFrom(...COMMANDS),
  startup: fc.constantFrom(0, 2),
  ready: fc.constantFrom(0, 1),
});
const sidecarOrInit = fc.record({ command: fc.constantFrom(...COMMANDS), isSidecar: fc.boolean() });
const scenario = fc.record({
  restartPolicy: fc.constantFrom("Always", "OnFailure", "Never" as const),
  containers: fc.array(container, { minLength: 1, maxLength: 3 }),
  init: fc.array(sidecarOrInit, { maxLength: 2 }),
  deadline: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  deletedAt: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
  restartsAt: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
  stopDelay: fc.constantFrom("0s", "1s", "40s"),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

function specOf({ restartPolicy, containers, init, deadline }: Scenario): Partial<core.PodSpec> {
  const sh = (text: string) => ["sh", "-c", text];
  return {
    restartPolicy: restartPolicy as "Always",
    containers: containers.map(({ command, startup, ready }, at) => ({
      name: `c${at}`,
      image: "i",
      command: sh(command),
      ...(startup > 0 && { startupProbe: { exec: { command: ["true"] }, initialDelaySeconds: startup } }),
      readinessProbe: { exec: { command: ["true"] }, initialDelaySeconds: ready },
    })),
    initContainers: init.map(({ command, isSidecar }, at) => ({
      name: `i${at}`,
      image: "i",
      command: sh(command),
      ...(isSidecar && { restartPolicy: "Always" }),
    })),
    ...(deadline !== undefined && { activeDeadlineSeconds: deadline }),
  };
}

describe("lives of Pods", () => {
  it("are reported in a way that the API accepts, also across restarts of the nodes", async () => {
    const first = await testFleet();
    let fleet = first;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const name = `p-${count++}`;
        const annotations = { "simulated.k8ts.io/stop-delay": given.stopDelay };
        await first.pod(name, specOf(given), { annotations });
        let final: string | undefined;
        for (let second = 0; second < 40; second++) {
          if (second === given.deletedAt) await first.client.of(kinds.Pod).in("default").delete(name);
          if (second === given.restartsAt) {
            await fleet.stop();
            fleet = await testFleet({ server: first.server });
          }
          await first.clock.advance(1_000);
          const pod = await first.get(name);
          if (pod === undefined) {
            expect(given.deletedAt, "gone without being deleted").toBeDefined();
            break;
          }
          const { phase } = pod.status ?? {};
          if (final !== undefined) expect(phase, "after its end").toBe(final);
          if (isFinal(phase)) final = phase;
        }
        expect(fleet.complaints).toEqual([]);
        if ((await first.get(name)) !== undefined)
          await first.client.of(kinds.Pod).in("default").delete(name, { gracePeriodSeconds: 0 });
      }),
      { numRuns: 60 },
    );
    await fleet.close();
    await first.close();
  });
});

describe("a node that stops and starts at any moment", () => {
  const moves = fc.array(
    fc.record({
      what: fc.constantFrom("stop", "start", "annotate", "clear", "create", "delete" as const),
      // Also in the middle of what it is about to do.
      turns: fc.integer({ min: 0, max: 6 }),
      ms: fc.constantFrom(0, 0, 1, 50, 100, 1_000, 12_000),
    }),
    { minLength: 3, maxLength: 15 },
  );

  it("is Ready in the end, and its Pods run", async () => {
    let count = 0;
    const cluster = await testFleet();
    const pods = cluster.client.of(kinds.Pod).in("default");
    const annotate = (stopped: "true" | null) =>
      cluster.client
        .of(kinds.Node)
        .patch("node-1", { type: "merge", object: { metadata: { annotations: { [STOPPED]: stopped } } } });
    await fc.assert(
      fc.asyncProperty(moves, async (given) => {
        const names: string[] = [];
        for (const { what, turns, ms } of given) {
          if (what === "stop") cluster.fleet.stopNode("node-1");
          else if (what === "start") cluster.fleet.startNode("node-1");
          else if (what === "annotate") await annotate("true");
          else if (what === "clear") await annotate(null);
          else if (what === "create") {
            const name = `p-${count++}`;
            names.push(name);
            await pods.create({
              metadata: { name },
              spec: { nodeName: "node-1", containers: [{ name: "c", image: "i" }] },
            });
          } else {
            const name = names.shift();
            if (name !== undefined) await pods.delete(name);
          }
          for (let turn = 0; turn < turns; turn++) await nextTurn();
          if (ms > 0) await cluster.clock.advance(ms);
        }
        cluster.fleet.startNode("node-1");
        await annotate(null);
        await cluster.clock.advance(20_000);
        const { items } = await pods.list();
        expect(items.map(({ metadata, status }) => [metadata.name, status?.phase]).sort()).toEqual(
          names.map((name) => [name, "Running"]).sort(),
        );
        const { spec } = await cluster.client.of(kinds.Lease).in("kube-node-lease").get("node-1");
        expect(cluster.clock.now() - Date.parse(spec?.renewTime ?? ""), "since it was heard of").toBeLessThan(11_000);
        expect(cluster.complaints).toEqual([]);
        for (const name of names) await pods.delete(name, { gracePeriodSeconds: 0 });
      }),
      { numRuns: 40 },
    );
    await cluster.close();
  });
});
