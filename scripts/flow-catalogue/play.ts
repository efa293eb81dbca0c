/** Plays a scenario on a running cluster until its flow is whole. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Diagram, diagramOf, type FlowRecord, type Line } from "#flows";
import { findSteps, type Scenario, type Stage } from "./scenario.ts";

const PATIENCE_MS = 30_000;
const AGAIN_MS = 250;

export interface Played {
  readonly diagram: Diagram;
  /** Of the essential steps. */
  readonly lines: readonly Line[];
}

/** Throws if an essential step does not come. */
export async function play(
  scenario: Scenario,
  stage: Stage,
  records: () => Promise<readonly FlowRecord[]>,
): Promise<Played> {
  const before = (await records()).at(-1)?.seq ?? 0;
  await scenario.act(stage);
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
    const all = (await records()).filter(({ seq }) => seq > before);
    const diagram = diagramOf(scenario.flow(all));
    const { lines, missing } = findSteps(diagram, scenario.steps);
    if (missing === undefined) return { diagram, lines };
    if (performance.now() > end) {
      const seen = diagram.lines.map(({ from, arrow, to, text }) => `  ${from} ${arrow} ${to}: ${text}`).join("\n");
      throw new Error(`${scenario.id}: "${missing.says}" did not come. What came:\n${seen}\nWorks: ${worksOf(all)}`);
    }
  }
}

function worksOf(records: readonly FlowRecord[]): string {
  return [
    ...new Set(records.flatMap((each) => (each.type === "work" ? [`${each.actor} (${each.woken.join(" ")})`] : []))),
  ].join(", ");
}
