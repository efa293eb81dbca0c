/**
 * Shuffle sharding: each flow may use a few of a level's queues, its hand, dealt from a deck of all of them. Two flows seldom share a whole hand, so one
 * that floods its queues leaves others at least one of their own.
 *
 * 1. The same flow gets the same hand in every server, before and after a restart.
 */
import { createHash } from "node:crypto";

/** What the cards are dealt by: 64 bits of a digest of the flow's schema and of what tells its flows apart. */
export function flowHash(schema: string, distinguisher: string): bigint {
  return createHash("sha256").update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE(0);
}

/** `handSize` different numbers below `deckSize`. */
export function dealHand(hash: bigint, deckSize: number, handSize: number): readonly number[] {
  let left = hash;
  const drawn: number[] = [];
  for (let card = 0; card < handSize; card++) {
    const remaining = BigInt(deckSize - card);
    drawn.push(Number(left % remaining));
    left /= remaining;
  }
  // Each was drawn by its place among the cards that were left: cards that had gone before it move it up.
  return drawn.map((place, i) => {
    let card = place;
    for (let before = i - 1; before >= 0; before--) if (card >= (drawn[before] ?? 0)) card++;
    return card;
  });
}
