import { expect, it } from "vitest";
import { KeyedLock } from "./keyed-lock.ts";

it("runs work on one key in order, and on others at once", async () => {
  const lock = new KeyedLock();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = lock.run("a", async () => {
    await gate.promise;
    seen.push("a1");
    throw new Error("failed");
  });
  const second = lock.run("a", async () => seen.push("a2"));
  await lock.run("b", async () => seen.push("b1"));
  expect(seen).toEqual(["b1"]);
  gate.resolve();
  await expect(first).rejects.toThrow("failed");
  await second;
  expect(seen).toEqual(["b1", "a1", "a2"]);
});
