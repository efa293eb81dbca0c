import { randomUUID } from "node:crypto";
import { flatText } from "#api";

/** A version 4 UUID: randomUUID joins it of many parts. */
export function newUid(): string {
  return flatText(randomUUID());
}
