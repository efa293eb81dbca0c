import { beforeEach, describe, expect, it } from "vitest";
import { childController, VirtualClock } from "#base";
import { Works } from "#flows";
import { type TestTracer, testTracer } from "../../tracing/testing/index.ts";
import { traced } from "./traced.ts";
import type { Transport, TransportRequest } from "./transport.ts";

const [T, S] = ["6".repeat(32), "e".repeat(16)];

describe("a traced transport", () => {
  const clock = new VirtualClock();
  let sent: TransportRequest[];
  let answer: Record<string, string>;
  let test: TestTracer;
  let transport: Transport;
  const works = new Works("deployment-controller");
  beforeEach(() => {
    sent = [];
    answer = {};
    test = testTracer(clock);
    const plain: Transport = {
      send: async (request) => {
        sent.push(request);
        return { status: 200, headers: answer, body: (async function* () {})() };
      },
      close: async () => {},
    };
    transport = traced(plain, test.tracer, "Reconcile");
  });
  const cause = (woken: readonly number[] = []) =>
    works.cause({
      about: "default/web",
      resource: "apps/deployments",
      woken,
      startedAt: clock.now(),
      decided: "create 1 ReplicaSet",
      calls: [{ to: "runtime", what: "StartContainer", afterMs: 1, tookMs: 2 }],
    });
  const send = (headers: Record<string, string>) =>
    transport.send({ method: "POST", target: "/", headers, ending: childController() });
  const ended = () => {
    test.tracer.works.sweep(true);
    return test.spans;
  };

  it("is the transport itself without a tracer", () => {
    expect(traced(transport, undefined, "Reconcile")).toBe(transport);
  });

  it("names the span of the work in each of its requests", async () => {
    const header = cause();
    await send({ "k8ts-cause": header });
    await send({ "k8ts-cause": header, accept: "application/json" });
    const [span] = ended();
    expect(ended()).toHaveLength(1);
    expect(span).toMatchObject({
      name: "Reconcile apps/deployments",
      attributes: { "k8ts.actor": "deployment-controller", "k8ts.decided": "create 1 ReplicaSet" },
      events: [{ name: "runtime: StartContainer" }],
    });
    const traceparent = `00-${span?.traceId}-${span?.spanId}-01`;
    expect(sent.map(({ headers }) => headers.traceparent)).toEqual([traceparent, traceparent]);
    expect(sent[1]?.headers.accept).toBe("application/json");
  });

  it("takes the trace from the answer", async () => {
    answer = { "k8ts-cause-span": `7=00-${T}-${S}-01` };
    await send({ "k8ts-cause": cause([7]) });
    expect(ended()).toMatchObject([{ traceId: T, parentSpanId: S }]);
  });

  it.each(["7", "=", "x=00-a-b-01", "7=nonsense", ""])("is not confused by the answer %j", async (header) => {
    answer = { "k8ts-cause-span": header };
    await send({ "k8ts-cause": cause([7]) });
    expect(ended()).toMatchObject([{ parentSpanId: undefined }]);
  });

  it.each([{}, { "k8ts-cause": "" }, { "k8ts-cause": "a {broken" }])(
    "sends what belongs to no work as it is: %j",
    async (headers) => {
      await send(headers);
      expect(sent[0]?.headers).toEqual(headers);
      expect(ended()).toEqual([]);
    },
  );
});
