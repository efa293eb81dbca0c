/**
 * `node scripts/flow-catalogue.ts [ID…]`: runs the scenarios of the catalogue, and writes their pages to docs/flows.
 *
 * Scenarios with real nodes run only where possible (as root, with containerd); elsewhere their pages are left as they
 * are.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missing } from "../test/containerd/support/leftovers.ts";
import { Machine } from "../test/containerd/support/machine.ts";
import { Home } from "../test/support/k8ts.ts";
import { pageOf } from "./flow-catalogue/page.ts";
import { play } from "./flow-catalogue/play.ts";
import type { Scenario, Stage } from "./flow-catalogue/scenario.ts";
import { SCENARIOS } from "./flow-catalogue/scenarios.ts";
import { recordsOf, stageInside, stageOn } from "./flow-catalogue/stage.ts";

const docs = join(import.meta.dirname, "..", "docs", "flows");
const wanted = process.argv.slice(2);
const chosen = SCENARIOS.filter(({ id }) => wanted.length === 0 || wanted.includes(id));

await onSimulatedNodes(chosen.filter(({ nodes }) => nodes === "simulated"));
await onRealNodes(chosen.filter(({ nodes }) => nodes === "real"));
writeIndex();

async function onSimulatedNodes(scenarios: readonly Scenario[]): Promise<void> {
  if (scenarios.length === 0) return;
  await using home = new Home();
  const nodes = ["--runtime", "simulated", "--nodes", "2"];
  const up = await home.k8ts("up", "--store", "memory", "--port", "0", ...nodes, "--detach");
  if (up.code !== 0) throw new Error(up.stderr);
  for (const scenario of scenarios) await write(scenario, stageOn(home), home);
}

async function onRealNodes(scenarios: readonly Scenario[]): Promise<void> {
  if (scenarios.length === 0) return;
  if (missing !== "") return console.log(`${scenarios.map(({ id }) => id).join(", ")}: ${missing}`);
  await using machine = await Machine.create();
  await machine.ok("up", "--store", "memory", "--port", "0", "--runtime", "containerd", "--nodes", "1", "--detach");
  for (const scenario of scenarios) await write(scenario, stageInside(machine), machine);
}

async function write(scenario: Scenario, stage: Stage, cluster: Parameters<typeof recordsOf>[0]): Promise<void> {
  try {
    const { diagram, lines } = await play(scenario, stage, () => recordsOf(cluster));
    writeFileSync(join(docs, `${scenario.id}.md`), pageOf(scenario, diagram, lines));
    console.log(`${scenario.id}: ${diagram.lines.length} lines, ${diagram.participants.join(", ")}`);
  } catch (error) {
    // The others may still have their pages.
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

function writeIndex(): void {
  const rows = SCENARIOS.filter(({ id }) => existsSync(join(docs, `${id}.md`))).map(
    ({ id, title, steps }) => `| [${title}](${id}.md) | ${steps.length} |`,
  );
  writeFileSync(
    join(docs, "README.md"),
    [
      "# Flows",
      "",
      "What happens inside a cluster, as sequence diagrams of real runs, drawn by `k8ts flow` from flow records.",
      "",
      "| flow | essential steps |",
      "|---|---|",
      ...rows,
      "",
      "`node scripts/flow-catalogue.ts` plays them again and writes these pages. **One more flow:** a `Scenario` in `scripts/flow-catalogue/scenarios.ts`: what is done,",
      "which records are shown, and the steps that make it this flow.",
      "",
    ].join("\n"),
  );
}
