/** What a request leaves in a trace, with kube-apiserver's names. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { Recorder, type RequestRecord } from "#flows";
import { type TestTracer, testTracer } from "../../tracing/testing/index.ts";
import { type DynamicServer, dynamicServer } from "../admission/dynamic/testing/index.ts";
import { type AdmissionWebhook, admissionWebhook, configure } from "../admission/webhooks/testing/index.ts";
import { toRequest } from "../testing/exchange.ts";
import { configMap } from "../testing/index.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const [T, S] = ["5".repeat(32), "d".repeat(16)];
const traceparent = `00-${T}-${S}-01`;

let test: TestTracer;
let server: DynamicServer;
let recorder: Recorder;

async function started(samples: boolean): Promise<void> {
  const clock = new VirtualClock();
  test = testTracer(clock, { samples, service: "apiserver" });
  recorder = new Recorder();
  server = await dynamicServer({ clock, tracer: test.tracer, recorder });
}
afterEach(() => server.close());

const post = (name: string, headers: Record<string, string> = { traceparent }) =>
  server.request("POST", MAPS, { body: configMap(name), headers });
const named = () => test.spans.map(({ name }) => name);

describe("a sampled request", () => {
  beforeEach(() => started(false));

  it("has spans for itself, its verb and the store", async () => {
    await post("a");
    expect(named()).toEqual(["Create store", "Create", "POST /api/v1/namespaces/{:namespace}/configmaps"]);
    const [store, verb, request] = test.spans;
    expect(request).toMatchObject({ traceId: T, parentSpanId: S, kind: 2 });
    expect(verb?.parentSpanId).toBe(request?.spanId);
    expect(store?.parentSpanId).toBe(verb?.spanId);
    expect(request?.attributes).toMatchObject({
      "http.request.method": "POST",
      "http.response.status_code": 201,
      "url.path": MAPS,
      "k8s.resource": "configmaps",
      "k8s.namespace.name": "default",
    });
    expect(store?.attributes).toMatchObject({ key: "/registry/core/configmaps/default/a" });
  });

  it.each([
    ["GET", `${MAPS}/a`, ["Get", "GET /api/v1/namespaces/{:namespace}/configmaps/{:name}"]],
    ["GET", MAPS, ["List", "GET /api/v1/namespaces/{:namespace}/configmaps"]],
    ["GET", "/apis/apps/v1/deployments", ["List", "GET /apis/apps/v1/deployments"]],
    ["GET", "/version", ["GET"]],
  ])("%s %s is named without names of objects", async (method, path, want) => {
    await server.request(method, path, { headers: { traceparent } });
    expect(named()).toEqual(want);
  });

  it("calls webhooks as a part of its trace", async () => {
    const hook: AdmissionWebhook = await admissionWebhook();
    try {
      await configure(server, "validating", "v", hook);
      await post("a");
      const call = test.spans.find(({ name }) => name === "Call validating webhook");
      const http = test.spans.find(({ name }) => name === "HTTP POST");
      expect(call?.attributes).toMatchObject({ configuration: "v", webhook: "v.example.com", operation: "CREATE" });
      expect(call?.parentSpanId).toBe(test.spans.find(({ name }) => name === "Create")?.spanId);
      expect(http?.parentSpanId).toBe(call?.spanId);
      expect(hook.headers.map((headers) => headers.traceparent)).toEqual([`00-${T}-${http?.spanId}-01`]);
    } finally {
      await hook.close();
    }
  });

  it("is found in its flow record", async () => {
    await post("a");
    const record = recorder
      .records()
      .find((each): each is RequestRecord => each.type === "request" && each.name === "a");
    expect(record?.span).toEqual({ traceId: T, spanId: test.spans.at(-1)?.spanId });
  });

  it("is known to what its write wakes, before it is answered", async () => {
    const { metadata } = await post("a");
    const revision = Number(metadata.resourceVersion);
    expect(test.tracer.revisions.latest([revision])?.by).toMatchObject({
      traceId: T,
      spanId: test.spans.at(-1)?.spanId,
    });
  });

  it("that is a watch ends with the watch", async () => {
    const watch = await server.watch(`${MAPS}?watch=true`, { headers: { traceparent } });
    await server.settle();
    expect(named()).toEqual([]);
    await watch.close();
    await server.settle();
    expect(named()).toEqual(["GET /api/v1/namespaces/{:namespace}/configmaps"]);
  });

  it("that is refused has its code", async () => {
    await post("a");
    await post("a");
    expect(test.spans.at(-1)?.attributes["http.response.status_code"]).toBe(409);
  });
});

describe("who decides what is sampled", () => {
  it("nobody by a traceparent that is not sampled, or without one", async () => {
    await started(false);
    await post("a", {});
    await post("b", { traceparent: `00-${T}-${S}-00` });
    expect(named()).toEqual([]);
  });

  it("the rate, of requests without a traceparent", async () => {
    await started(true);
    const before = test.spans.length;
    await post("a", {});
    const own = test.spans.slice(before);
    expect(own.map(({ name }) => name)).toContain("Create");
    expect(own.at(-1)).toMatchObject({ parentSpanId: undefined });
  });

  it("not a traceparent of users over the network: their traces begin here, with a link", async () => {
    await started(true);
    const user = { name: "jane", groups: ["system:authenticated"] };
    const request = toRequest("GET", "/version", user, { headers: { traceparent } });
    await server.handle({ ...request, remoteAddress: "192.0.2.1" });
    const span = test.spans.at(-1);
    expect(span).toMatchObject({ parentSpanId: undefined, links: [{ traceId: T, spanId: S }] });
    expect(span?.traceId).not.toBe(T);
  });
});
