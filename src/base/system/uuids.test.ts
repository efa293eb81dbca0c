import { expect, it } from "vitest";
import { UUID_LENGTH, Uuids } from "./uuids.ts";

it("spells version 4 UUIDs, as randomUUID does, and no one twice", () => {
  const uuids = new Uuids(100);
  const found: string[] = [];
  for (let batch = 0; batch < 3; batch++) {
    uuids.renew();
    const text = uuids.letters.toString("latin1");
    for (let at = 0; at < text.length; at += UUID_LENGTH) found.push(text.slice(at, at + UUID_LENGTH));
  }
  expect(new Set(found).size).toBe(300);
  const wrong = found.filter((id) => !/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id));
  expect(wrong).toEqual([]);
});
