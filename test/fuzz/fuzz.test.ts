/** Our own parsers accept or refuse whatever they are given: they do not crash, and do not take long. */
import { describe, expect, it } from "vitest";
import { corpusOf, fuzz, newTally, tryInput } from "./run.ts";
import { targets } from "./targets.ts";

const SEED = 20261118;
const INPUTS = 2_000;

describe.each(Object.entries(targets))("%s", (name, target) => {
  it("accepts its valid inputs", async () => {
    const tally = newTally();
    for (const bytes of target.seeds) await tryInput(target, bytes, tally);
    expect([tally.accepted, tally.findings]).toEqual([target.seeds.length, []]);
  });

  it("survives mutated inputs, and those that were findings once", async () => {
    const tally = await fuzz(target, SEED, ({ tried }) => tried < (target.inputs ?? INPUTS));
    for (const bytes of corpusOf(name)) await tryInput(target, bytes, tally);
    expect(tally.findings.map(({ bytes, what }) => `${bytes.toString("base64").slice(0, 200)}: ${what}`)).toEqual([]);
    expect(Math.min(tally.accepted, tally.refused)).toBeGreaterThan(0);
  });
});
