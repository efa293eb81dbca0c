/** docs/architecture.md shows the folders as the table of layers has them. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PAGE, withLayers } from "../../scripts/architecture.ts";
import { layers, purposes } from "../layers/table.ts";

it("the page is up to date: run `node scripts/architecture.ts` after a change of the layers", () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toBe(withLayers(page));
});

it("every layer has a purpose, and nothing else has", () => {
  expect(Object.keys(purposes)).toEqual(Object.keys(layers));
});
