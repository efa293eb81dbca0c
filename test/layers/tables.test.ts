/**
 * Lookup tables have no inherited keys. A key from outside, such as `constructor`, finds something in a plain object
 * that nobody put there: tables of sources are made with `table()` of src/base.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "..", "..", "src");
/** A constant that maps any string to something, as a plain object. */
const PLAIN = /^(?:export )?const (\w+): (?:Readonly<)?(?:Partial<)?Record<string, [^=]+= \{/gm;
/** Facts are indexed with names of the API's own; the page's tables are read in a browser, with the page's own words. */
const NOT_ASKED_FROM_OUTSIDE = ["api/facts/", "dashboard/web/"];

describe("lookup tables", () => {
  const files = globSync("**/*.{ts,tsx}", { cwd: SRC })
    .filter((file) => !/\.test\.tsx?$|(^|\/)testing\//.test(file))
    .filter((file) => !NOT_ASKED_FROM_OUTSIDE.some((folder) => file.startsWith(folder)));

  it("are made with table()", () => {
    const plain = files.flatMap((file) =>
      [...readFileSync(join(SRC, file), "utf8").matchAll(PLAIN)].map(([, name]) => `${file}: ${name}`),
    );
    expect(plain).toEqual([]);
  });

  it("are found where they are not", () => {
    expect("const A: Readonly<Record<string, number>> = { a: 1 };".match(PLAIN)).toHaveLength(1);
    expect("const A: Readonly<Record<string, number>> = table({ a: 1 });".match(PLAIN)).toBeNull();
  });
});
