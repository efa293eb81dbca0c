/** The flows of docs/flows, played again: the same participants, and the essential steps in the documented order. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shape } from "../scripts/flow-catalogue/page.ts";
import { play } from "../scripts/flow-catalogue/play.ts";
import { SCENARIOS } from "../scripts/flow-catalogue/scenarios.ts";
import { recordsOf, stageOn } from "../scripts/flow-catalogue/stage.ts";
import { Home } from "./support/k8ts.ts";
import { startSimulated } from "./support/simulated.ts";
import { tool } from "./support/tools.ts";

const docs = join(import.meta.dirname, "..", "docs", "flows");
const simulated = SCENARIOS.filter(({ nodes }) => nodes === "simulated");

describe("the catalogue of flows", () => {
  it.each(SCENARIOS)("has a page of $id with its steps", ({ id, title, steps }) => {
    const file = join(docs, `${id}.md`);
    expect(existsSync(file), `${id} has no page: node scripts/flow-catalogue.ts ${id}`).toBe(true);
    const text = readFileSync(file, "utf8");
    expect(text).toContain(`# ${title}\n`);
    const rows = [...text.matchAll(/^\| \d+ \| (.+?) \|/gm)].map(([, says]) => says);
    expect(rows).toEqual(steps.map(({ says }) => says));
  });
});

describe.skipIf(tool("kubectl") === undefined)("a flow played again", () => {
  let home: Home;
  beforeAll(async () => {
    home = new Home();
    await startSimulated(home, 2);
  });
  afterAll(() => home?.[Symbol.asyncDispose]());

  it.each(simulated)("is as documented: $id", async (scenario) => {
    const { diagram } = await play(scenario, stageOn(home), () => recordsOf(home));
    const page = readFileSync(join(docs, `${scenario.id}.md`), "utf8");
    const documented = /^Who takes part: (.+)\.$/m.exec(page)?.[1]?.split(", ") ?? [];
    // Who comes last may not have come yet; who is not documented takes no part.
    expect(documented).toEqual(expect.arrayContaining(diagram.participants.map(shape)));
  });
});
