/**
 * Shuffle sharding: each flow may use a few of a level's queues, its hand, dealt from a deck of all queues. Two flows
 * seldom share a whole hand, so a flow that floods its queues leaves other flows at least one queue.
 *
 * 1. The same flow gets the same hand in every server, before and after a restart.
 */
import { createHash } from "node:crypto";

/** Hands are dealt by this: 64 bits of a digest of schema and distinguisher. */
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
  // Each was drawn by its place among the cards left: cards drawn before it shift that place.
  return drawn.map((place, i) => {
    let card = place;
    for (let before = i - 1; before >= 0; before--) if (card >= (drawn[before] ?? 0)) card++;
    return card;
  });
}
