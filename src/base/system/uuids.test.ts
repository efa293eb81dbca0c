import { randomFillSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { uuidSource } from "./uuids.ts";

describe("uuidSource", () => {
  it("spells random bytes as a plain formatter does, batch after batch", () => {
    const bytes: number[] = [];
    const newUuid = uuidSource((random) => bytes.push(...randomFillSync(random)));
    for (let i = 0; i < 300; i++) {
      const uuid = newUuid();
      expect(uuid).toBe(plainly(bytes.slice(i * 16, (i + 1) * 16)));
    }
  });

  it("makes different ones of version 4", () => {
    const newUuid = uuidSource();
    const made = new Set(Array.from({ length: 1_000 }, newUuid));
    expect(made.size).toBe(1_000);
    for (const uuid of made) expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
});

function plainly(bytes: readonly number[]): string {
  const marked = bytes.map((byte, i) => (i === 6 ? (byte % 16) + 0x40 : i === 8 ? (byte % 64) + 0x80 : byte));
  const hex = marked.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
