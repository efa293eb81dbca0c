/** A day of a load curve on virtual time: how often the Deployment is scaled, and what that costs the API server. */
import { afterEach, expect, it } from "vitest";
import { kinds } from "#api";
import { type Autoscaled, autoscaler, startAutoscaled, web } from "./testing/autoscaled.ts";
import { DAY_MS, dayOfLoad, HOUR_MS } from "./testing/day.ts";

let cluster: Autoscaled | undefined;
afterEach(() => cluster?.close());

it("follows the load of a day with few changes, and asks only as often as its period says", async () => {
  let beganMs = 0;
  cluster = await startAutoscaled((now) => dayOfLoad(now - beganMs));
  const { client, clock, live, replicas, events, requests, writes } = cluster;
  await client.of(kinds.Deployment).create(web);
  await client.of(kinds.HorizontalPodAutoscaler).create(autoscaler({ maxReplicas: 20 }));
  beganMs = clock.now();
  const atHour: number[] = [];
  const before = { requests: requests().length, writes: writes() };
  for (let hour = 0; hour < DAY_MS / HOUR_MS; hour += 3) {
    await live(3 * HOUR_MS);
    atHour.push(await replicas());
  }
  // Every Pod shall use 100m: the load of the hour by that, or what the tolerance leaves.
  for (const [at, count] of atHour.entries()) {
    const wanted = dayOfLoad((at + 1) * 3 * HOUR_MS) / 100;
    expect(count, `hour ${(at + 1) * 3}`).toBeGreaterThanOrEqual(Math.floor(wanted / 1.1));
    expect(count, `hour ${(at + 1) * 3}`).toBeLessThanOrEqual(Math.ceil(wanted / 0.9) + 1);
  }
  expect(Math.max(...atHour)).toBeGreaterThanOrEqual(15);
  expect(Math.min(...atHour)).toBeLessThanOrEqual(3);
  const scaled = (await events()).filter((each) => each.startsWith("SuccessfulRescale"));
  // Up and down again once: a step for each new size, no flapping.
  expect(scaled.length).toBeGreaterThanOrEqual(15);
  expect(scaled.length).toBeLessThanOrEqual(45);
  const looks = DAY_MS / 15_000;
  const asked = requests().length - before.requests;
  expect(asked).toBeGreaterThan(looks);
  // A look reads the scale and the metrics.
  expect(asked).toBeLessThanOrEqual(4 * looks);
  expect(writes() - before.writes).toBeLessThanOrEqual(2 * looks);
});
