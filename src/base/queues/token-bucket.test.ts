import { expect, it } from "vitest";
import { VirtualClock } from "../system/virtual-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

const takes = (bucket: TokenBucket, count: number) => Array.from({ length: count }, () => bucket.take());

it("allows a burst, then fills up steadily, never beyond the burst", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, clock);
  expect(takes(bucket, 4)).toEqual([true, true, true, false]);
  await clock.advance(500);
  expect(takes(bucket, 2)).toEqual([true, false]);
  await clock.advance(60_000);
  expect(takes(bucket, 4)).toEqual([true, true, true, false]);
});
