import { expect, it } from "vitest";
import { RequestIds } from "./ids.ts";

it("makes version 4 UUIDs, each another, also beyond those of one text", () => {
  const made = new RequestIds();
  const ids = Array.from({ length: 1000 }, () => made.next());
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id[19])).size).toBe(4);
});

it("knows where the last one is among its letters", () => {
  const made = new RequestIds();
  let before = "";
  for (let i = 0; i < 600; i++) {
    const id = made.next();
    const at = made.placeOf(id);
    expect(made.letters.toString("latin1", at, at + id.length)).toBe(id);
    expect(made.placeOf(before)).toBe(-1);
    before = id;
  }
  expect(made.rounds).toBe(3);
});
