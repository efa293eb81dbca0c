/** Tests that compare with recordings of a real server find them in ../shared, wherever the tests lie. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { root } from "../layers/imports.ts";

const shared = resolve(root, "../shared");

it("every path to ../shared leads there: a wrong one would skip its tests", () => {
  const files = globSync(["src/**/*.ts", "test/**/*.ts", "bench/**/*.ts"], { cwd: root });
  const wrong = files.flatMap((file) => {
    const paths = readFileSync(join(root, file), "utf8").matchAll(/"((?:\.\.\/)+shared)\//g);
    return [...paths].flatMap(([, path = ""]) =>
      resolve(root, dirname(file), path) === shared ? [] : [`${file}: ${path}`],
    );
  });
  expect(wrong).toEqual([]);
});
