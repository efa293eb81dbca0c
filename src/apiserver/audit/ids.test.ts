import { expect, it } from "vitest";
import { requestIds } from "./ids.ts";

it("makes version 4 UUIDs, each another, also beyond those of one text", () => {
  const newId = requestIds();
  const ids = Array.from({ length: 1000 }, () => newId());
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ids.map((id) => id[19])).size).toBe(4);
});
