/** What a kubelet's traces have of a Pod. */
import { expect, it } from "vitest";
import { VirtualClock } from "#base";
import { revisionOf } from "#client";
import { testTracer } from "../../tracing/testing/index.ts";
import { kubelets, podWith, seconds } from "../testing/scenarios.ts";

const start = kubelets();
const WRITE = { traceId: "9".repeat(32), spanId: "f".repeat(16), sampled: true };

it("the first sync of each version of a Pod continues the trace of its write, later ones do not", async () => {
  const clock = new VirtualClock();
  const { tracer, spans } = testTracer(clock, { samples: false });
  const test = await start({ tracer });
  const pod = await test.create(podWith());
  tracer.revisions.wrote(revisionOf(pod), WRITE);
  await test.clock.advance(seconds(200));
  tracer.works.sweep(true);
  const syncs = spans.filter(({ name }) => name === "syncPod");
  expect(syncs).toHaveLength(1);
  expect(syncs[0]).toMatchObject({
    traceId: WRITE.traceId,
    parentSpanId: WRITE.spanId,
    attributes: { "k8s.pod": "default/web", "k8s.pod.name": "web", "k8s.namespace.name": "default" },
  });
});
