import { describe, expect, it } from "vitest";
import { ConcurrencyLimit } from "./concurrency-limit.ts";

describe("turns", () => {
  it("lets so many go on at once, and the others in their order, also after a failure", async () => {
    const turns = new ConcurrencyLimit(2);
    const begun: number[] = [];
    const ends: PromiseWithResolvers<number>[] = [];
    const works = Array.from({ length: 5 }, (_, at) => {
      const end = Promise.withResolvers<number>();
      ends.push(end);
      return turns.run(() => {
        begun.push(at);
        return end.promise;
      });
    });
    const settled = Promise.allSettled(works);
    expect(begun).toEqual([0, 1]);
    ends[1]?.reject(new Error("no"));
    await expect(works[1]).rejects.toThrow("no");
    await Promise.resolve();
    expect(begun).toEqual([0, 1, 2]);
    for (const [at, end] of ends.entries()) end.resolve(at);
    expect((await settled).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });
});
