/**
 * A Deployment with a HorizontalPodAutoscaler under the load of a day, on virtual time: API server, controllers, metrics server and
 * simulated nodes in one process.
 *
 * 1. Time passes as fast as the parts have done what falls due: a round of measuring and a look of the autoscaler every 15 s.
 */
import { kinds } from "#api";
import { autoscaler, startAutoscaled, web } from "../src/controllers/horizontal-pod-autoscaler/testing/autoscaled.ts";
import { DAY_MS, dayOfLoad } from "../src/controllers/horizontal-pod-autoscaler/testing/day.ts";
import type { Figure } from "./run.ts";

export async function run(report: (figure: Figure) => void): Promise<void> {
  let beganMs = 0;
  const cluster = await startAutoscaled((now) => dayOfLoad(now - beganMs));
  try {
    const { client, clock, live, requests, writes, events } = cluster;
    await client.of(kinds.Deployment).create(web);
    await client.of(kinds.HorizontalPodAutoscaler).create(autoscaler({ maxReplicas: 20 }));
    beganMs = clock.now();
    const before = { requests: requests().length, writes: writes(), atMs: performance.now(), cpu: process.cpuUsage() };
    await live(DAY_MS);
    const seconds = (performance.now() - before.atMs) / 1000;
    const { user, system } = process.cpuUsage(before.cpu);
    report({ name: "a day of load, autoscaled", value: seconds, unit: "s" });
    report({ name: "processor time of it", value: (user + system) / 1e6, unit: "s" });
    report({ name: "virtual time by real time", value: DAY_MS / 1000 / seconds, unit: "times" });
    report({ name: "requests of controllers", value: requests().length - before.requests, unit: "" });
    report({ name: "of these, writes", value: writes() - before.writes, unit: "" });
    const scaled = (await events()).filter((each) => each.startsWith("SuccessfulRescale"));
    report({ name: "new sizes", value: scaled.length, unit: "" });
  } finally {
    await cluster.close();
  }
}
