/** Calls during a traced work: what the server is told, and what the trace has of them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Metadata, Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { testTracer } from "../tracing/testing/index.ts";
import { openChannel, socketTarget } from "./channel.ts";
import { methodsOf } from "./schema.ts";

const methods = methodsOf("runtime.v1.RuntimeService", { Request: {}, Answer: {} }, { Status: ["Request", "Answer"] });

describe("a call", () => {
  let dir: string;
  let server: Server;
  let received: Metadata[];
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "grpc-"));
    received = [];
    server = new Server();
    const { path, encode, decode } = methods.Status;
    const bytes = (text: unknown) => text as Buffer;
    server.addService(
      {
        Status: {
          path,
          requestStream: false,
          responseStream: false,
          requestSerialize: encode,
          requestDeserialize: bytes,
          responseSerialize: bytes,
          responseDeserialize: decode,
        },
      },
      {
        Status: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
          received.push(call.metadata);
          if (received.length > 1) answer({ code: 9, details: "not now" });
          else answer(null, Buffer.alloc(0));
        },
      },
    );
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(socketTarget(join(dir, "s")), ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  });
  afterEach(async () => {
    server.forceShutdown();
    await rm(dir, { recursive: true });
  });

  it("is a span that the server can continue; one that fails says so", async () => {
    const { tracer, spans } = testTracer(realClock());
    const channel = openChannel(join(dir, "s"), { clock: realClock(), timeoutMs: 10_000, tracer });
    await tracer.during({ name: "syncPod", woken: [] }, async () => {
      await channel.call(methods.Status, {});
      await expect(channel.call(methods.Status, {})).rejects.toThrow("not now");
    });
    tracer.works.sweep(true);
    channel.close();
    const [root] = spans.filter(({ name }) => name === "syncPod");
    const calls = spans.filter(({ name }) => name === "runtime.v1.RuntimeService/Status");
    expect(calls).toMatchObject([
      { parentSpanId: root?.spanId, kind: 3, attributes: { "rpc.system": "grpc", "rpc.method": "Status" } },
      { parentSpanId: root?.spanId, failure: "not now" },
    ]);
    expect(received.map((metadata) => metadata.get("traceparent"))).toEqual(
      calls.map(({ traceId, spanId }) => [`00-${traceId}-${spanId}-01`]),
    );
  });

  it("of no traced work is sent as it is", async () => {
    const { tracer, spans } = testTracer(realClock());
    const channel = openChannel(join(dir, "s"), { clock: realClock(), timeoutMs: 10_000, tracer });
    await channel.call(methods.Status, {});
    channel.close();
    expect(spans).toEqual([]);
    expect(received[0]?.get("traceparent")).toEqual([]);
  });
});
