import { randomUUID } from "node:crypto";

/**
 * A version 4 UUID, as text in one piece: randomUUID joins it of many, and JSON.stringify takes twice as long for an object that holds a joined
 * text (2.4 instead of 1.2 µs for a small one).
 */
export function newUid(): string {
  return Buffer.from(randomUUID(), "latin1").toString("latin1");
}
