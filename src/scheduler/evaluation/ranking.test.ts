import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { Ranking } from "./ranking.ts";

describe("a ranking", () => {
  it("picks among the best, as a search through all of them would", () => {
    const random = seededRandom(7);
    const ranking = new Ranking();
    ranking.grow(20);
    const scores = new Map<number, number>();
    for (let step = 0; step < 5_000; step++) {
      const index = random.integer(20);
      const score = random.integer(12) - 1;
      ranking.set(index, score);
      if (score === -1) scores.delete(index);
      else scores.set(index, score);
      const highest = Math.max(-1, ...scores.values());
      const found = ranking.best(random);
      if (highest === -1) expect(found).toBe(-1);
      else expect(scores.get(found)).toBe(highest);
      if (step === 2_500) ranking.grow(40);
    }
  });

  it("gives each of the best its chance", () => {
    const random = seededRandom(1);
    const ranking = new Ranking();
    ranking.grow(4);
    for (const index of [0, 1, 2]) ranking.set(index, 5);
    ranking.set(3, 4);
    const counts = [0, 0, 0, 0];
    for (let at = 0; at < 3_000; at++) {
      const picked = ranking.best(random);
      counts[picked] = (counts[picked] ?? 0) + 1;
    }
    expect(counts[3]).toBe(0);
    for (const count of counts.slice(0, 3)) expect(count).toBeGreaterThan(500);
  });
});
