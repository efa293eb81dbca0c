/** Channel and server together, over a real socket. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock, VirtualClock } from "#base";
import { type Channel, openChannel } from "./channel.ts";
import { GrpcError } from "./grpc-error.ts";
import { methodsOf } from "./schema.ts";
import { type GrpcServer, type HandlerContext, servedService, serveGrpc } from "./serve.ts";

const messages = {
  "Outer.Request": { text: [1, "string"], count: [2, "int64"], parts: [3, "Outer.Part[]"], labels: [4, "map"] },
  "Outer.Part": { kind: [1, "enum Kind"], inner: [2, "Outer.Request"] },
  Answer: { text: [1, "string"], request: [2, "Outer.Request"] },
} as const;

const methods = methodsOf("test.v1.Echo", messages, {
  Echo: ["Outer.Request", "Answer"],
  Wait: ["Outer.Request", "Answer"],
  Absent: ["Outer.Request", "Answer"],
  Count: ["Outer.Request", "Answer", "stream"],
});

let dir: string;
let socket: string;
let server: GrpcServer;
let channel: Channel;
let waiting: HandlerContext | undefined;
let onWait: () => void;
const errors: unknown[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "grpc-"));
  socket = join(dir, "echo.sock");
  // A socket that a killed process left behind.
  await writeFile(socket, "");
  errors.length = 0;
  server = await serve();
  channel = openChannel(`unix://${socket}`, { clock: realClock(), timeoutMs: 60_000 });
});

afterEach(async () => {
  channel.close();
  await server.close();
  await rm(dir, { recursive: true });
});

function serve(): Promise<GrpcServer> {
  const echo = servedService(methods, {
    Echo: async (request) => {
      if (request.text === "known") throw new GrpcError("FAILED_PRECONDITION", "not now");
      if (request.text === "unknown") throw new TypeError("a defect");
      return { text: request.text, request };
    },
    Wait: async (_, context) => {
      waiting = context;
      onWait?.();
      await new Promise((_, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
      return {};
    },
    async *Count({ count }) {
      for (let i = 0; i < Number(count); i++) yield { text: String(i) };
      if (Number(count) === 3) throw new GrpcError("OUT_OF_RANGE", "three");
    },
  });
  return serveGrpc(socket, [echo], { clock: realClock(), onError: (_, error) => errors.push(error), graceMs: 100 });
}

describe("a served method", () => {
  it("gets what was sent, with zero values for the rest", async () => {
    const labels = { a: "b" };
    const { request } = await channel.call(methods.Echo, { count: "9007199254740993", parts: [{ kind: 2 }], labels });
    expect(request).toEqual({ text: "", count: "9007199254740993", parts: [{ kind: 2, inner: null }], labels });
  });

  it("accepts a received message, whose absent messages are null", async () => {
    const { request } = await channel.call(methods.Echo, { parts: [{ kind: 1 }] });
    expect((await channel.call(methods.Echo, request ?? {})).request).toEqual(request);
  });

  it.each([
    ["known", "FAILED_PRECONDITION", "not now", 0],
    ["unknown", "INTERNAL", "a defect", 1],
  ])("an error that is %s", async (text, code, details, reported) => {
    await expect(channel.call(methods.Echo, { text })).rejects.toMatchObject({ code, details });
    expect(errors).toHaveLength(reported);
  });

  it("without a handler is unimplemented", async () => {
    await expect(channel.call(methods.Absent, {})).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  });
});

describe("a stream", () => {
  const received = async (count: number, signal = new AbortController().signal) => {
    const texts: string[] = [];
    for await (const { text } of channel.stream(methods.Count, { count }, signal)) texts.push(text);
    return texts;
  };

  it("ends with the server", async () => {
    expect(await received(2)).toEqual(["0", "1"]);
  });

  it("throws what the server throws", async () => {
    await expect(received(3)).rejects.toMatchObject({ code: "OUT_OF_RANGE", details: "three" });
  });

  it("of an aborted signal yields nothing", async () => {
    expect(await received(2, AbortSignal.abort())).toEqual([]);
  });
});

describe("a call ends early", () => {
  const started = () => new Promise<void>((resolve) => (onWait = resolve));
  const cancelled = () =>
    expect.poll(() => waiting?.signal.aborted, { message: "the handler's signal aborts" }).toBe(true);

  it("when it is aborted", async () => {
    const [abort, begun] = [new AbortController(), started()];
    const call = channel.call(methods.Wait, {}, { signal: abort.signal });
    await begun;
    abort.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await cancelled();
  });

  it("when it takes too long", async () => {
    const clock = new VirtualClock();
    const limited = openChannel(socket, { clock, timeoutMs: 2_000 });
    const begun = started();
    const call = limited.call(methods.Wait, {});
    await begun;
    await Promise.all([expect(call).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" }), clock.advance(2_000)]);
    await cancelled();
    limited.close();
  });

  it("when the server is gone; a later one works", async () => {
    await server.close();
    await expect(channel.call(methods.Echo, {})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    server = await serve();
    await expect.poll(async () => (await channel.call(methods.Echo, { text: "x" })).text).toBe("x");
  });

  it("when the server is closed, after its grace period", async () => {
    const begun = started();
    const call = channel.call(methods.Wait, {});
    await begun;
    await Promise.all([expect(call).rejects.toMatchObject({ code: "CANCELLED" }), server.close()]);
    expect(waiting?.signal.aborted).toBe(true);
  });
});
