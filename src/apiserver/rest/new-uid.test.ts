import { expect, it } from "vitest";
import { uidSource } from "./new-uid.ts";

it("makes version 4 UUIDs, each another", () => {
  const newUid = uidSource();
  const uids = Array.from({ length: 1000 }, newUid);
  for (const uid of uids) expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(uids).size).toBe(uids.length);
});
