/** docs/cis.md: each row has an outcome, and a test that exists or a reason. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../layers/imports.ts";
import { tablesIn } from "./markdown-tables.ts";
import { literals, namedTest } from "./test-titles.ts";

/** Outcomes that a test has to show. */
const TESTED = ["met", "by flag"];
const REASONED = ["untested", "not met", "nothing here"];

const rows = tablesIn(readFileSync(join(root, "docs/cis.md"), "utf8"))
  .filter(({ subject }) => subject === "row")
  .flatMap((table) => table.rows)
  .map(([row = "", what = "", outcome = "", how = "", test = ""]) => ({ row, what, outcome, how, test }));

describe("docs/cis.md", () => {
  it("has the rows of a control plane and of a node, each once", () => {
    const numbers = rows.map(({ row }) => row);
    expect(new Set(numbers).size).toBe(numbers.length);
    const inSection = (section: string) => numbers.filter((row) => row.startsWith(section)).length;
    expect({ apiServer: inSection("1.2."), controllers: inSection("1.3."), kubelet: inSection("4.2.") }).toEqual({
      apiServer: 30,
      controllers: 7,
      kubelet: 14,
    });
  });

  it.each(rows)("$row $what", ({ outcome, how, test }) => {
    expect([...TESTED, ...REASONED]).toContain(outcome);
    const { file, title } = namedTest(test);
    if (!TESTED.includes(outcome)) {
      expect(how).not.toBe("");
      expect(test).toBe("");
      return;
    }
    expect([file, existsSync(join(root, file || "none"))]).toEqual([file, true]);
    expect([...literals(readFileSync(join(root, file), "utf8"))]).toContain(title);
  });
});
