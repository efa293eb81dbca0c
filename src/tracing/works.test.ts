import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { RevisionSpans } from "./revision-spans.ts";
import { type TestTracer, testTracer } from "./testing/index.ts";

const CAUSE = { traceId: "1".repeat(32), spanId: "a".repeat(16), sampled: true };

describe("the span of a work", () => {
  let clock: VirtualClock;
  let revisions: RevisionSpans;
  beforeEach(() => {
    clock = new VirtualClock();
    revisions = new RevisionSpans();
  });
  const sends = ({ tracer }: TestTracer, woken: readonly number[], id = "w/1") => {
    const sending = tracer.works.sends(id, () => ({ name: "Reconcile", woken, startMs: clock.now() }));
    if (sending === undefined) throw new Error("the work is not known");
    return sending;
  };

  it("continues the trace of the latest write that woke it", () => {
    const test = testTracer(clock, { revisions, samples: false });
    revisions.wrote(5, { ...CAUSE, traceId: "2".repeat(32) });
    revisions.wrote(7, CAUSE);
    const { work, answered } = sends(test, [7, 5, 9]);
    expect(work.headers().traceparent).toBe(`00-${CAUSE.traceId}-${work.span.id}-01`);
    answered();
    test.tracer.works.sweep(true);
    expect(test.spans).toMatchObject([{ traceId: CAUSE.traceId, parentSpanId: CAUSE.spanId, name: "Reconcile" }]);
  });

  it("is one for all requests of the work, and ends with the last answer", async () => {
    const test = testTracer(clock);
    const first = sends(test, []);
    const second = sends(test, []);
    expect(second.work).toBe(first.work);
    const began = clock.now();
    await clock.advance(300);
    first.answered();
    await clock.advance(5000);
    test.tracer.works.sweep();
    expect(test.spans).toEqual([]); // one is still under way
    second.answered();
    test.tracer.works.sweep();
    expect(test.spans).toEqual([]); // another may follow
    await clock.advance(1000);
    test.tracer.works.sweep();
    await clock.advance(6000);
    test.tracer.works.sweep();
    expect(test.spans).toMatchObject([{ startMs: began, endMs: began + 5300 }]);
  });

  it("goes to the trace that becomes known when it has ended, with its parts", async () => {
    const test = testTracer(clock, { revisions, samples: false });
    await test.tracer.during({ name: "syncPod", woken: [7] }, async (span) => span.child("RunPodSandbox").end());
    expect(test.spans).toEqual([]);
    revisions.learn(`7=00-${CAUSE.traceId}-${CAUSE.spanId}-01`);
    test.tracer.works.sweep();
    const root = test.spans.find(({ name }) => name === "syncPod");
    expect(root).toMatchObject({ traceId: CAUSE.traceId, parentSpanId: CAUSE.spanId });
    expect(test.spans).toContainEqual(
      expect.objectContaining({ name: "RunPodSandbox", traceId: CAUSE.traceId, parentSpanId: root?.spanId }),
    );
  });

  it.each([
    { samples: true, want: ["syncPod"] },
    { samples: false, want: [] },
  ])("that nothing known has woken is a trace of its own, if sampled: $samples", async ({ samples, want }) => {
    const test = testTracer(clock, { samples });
    await test.tracer.during({ name: "syncPod", woken: [7] }, async () => {});
    await clock.advance(5000);
    test.tracer.works.sweep();
    expect(test.spans.map(({ name }) => name)).toEqual(want);
    if (samples) expect(test.spans[0]?.parentSpanId).toBeUndefined();
  });

  it("has failed if the work has", async () => {
    const test = testTracer(clock);
    const failing = test.tracer.during({ name: "syncPod", woken: [] }, async () => {
      throw new Error("no runtime");
    });
    await expect(failing).rejects.toThrow("no runtime");
    test.tracer.works.sweep(true);
    expect(test.spans).toMatchObject([{ failure: "no runtime" }]);
  });

  it("is active for what it calls, and no longer", async () => {
    const { tracer } = testTracer(clock);
    let after: (() => void) | undefined;
    let seen: unknown = "not yet";
    await tracer.during({ name: "syncPod", woken: [] }, async (span) => {
      expect(tracer.active).toBe(span);
      void new Promise<void>((resolve) => {
        after = resolve;
      }).then(() => {
        seen = tracer.active;
      });
    });
    after?.();
    await clock.advance(1);
    expect(seen).toBeUndefined();
    expect(tracer.active).toBeUndefined();
  });

  it("ends for the oldest of too many works", async () => {
    const test = testTracer(clock);
    for (let i = 0; i < 4099; i++) sends(test, [], `w/${i}`);
    await clock.advance(6000);
    test.tracer.works.sweep();
    expect(test.spans).toHaveLength(3);
  });
});
