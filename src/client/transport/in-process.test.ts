import { describe, expect, it } from "vitest";
import { childController } from "#base";
import { type InProcessHandle, inProcess } from "./in-process.ts";
import type { BodyPart, TransportRequest } from "./transport.ts";

type Sink = Parameters<Extract<Awaited<ReturnType<InProcessHandle>>, { stream: unknown }>["stream"]>[0];

const user = { name: "somebody", groups: [] };
const request: TransportRequest = {
  method: "GET",
  target: "/api/v1/pods?watch=true",
  headers: {},
  ending: childController(),
  takesValues: true,
  goesOn: true,
};

/** A watch, its sink at the server, and how the server's part has ended. */
async function watch() {
  const { promise: sink, resolve } = Promise.withResolvers<Sink>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const stream = async (given: Sink) => {
    resolve(given);
    given.signal.addEventListener("abort", () => end());
    await ended;
  };
  const transport = inProcess(() => ({ status: 200, headers: { a: ["b", "c"] }, stream }), user);
  const { body } = await transport.send(request);
  return { parts: body[Symbol.asyncIterator](), sink: await sink, end, transport };
}

describe("a watch in the server's process", () => {
  it("gives events in order, and counts those that wait", async () => {
    const { parts, sink } = await watch();
    expect([sink.event?.("ADDED", { a: 1 }), sink.event?.("MODIFIED", { a: 2 })]).toEqual([1, 2]);
    expect((await parts.next()).value).toEqual({ type: "ADDED", object: { a: 1 } });
    expect((await parts.next()).value).toEqual({ type: "MODIFIED", object: { a: 2 } });
    expect(sink.event?.("ADDED", { a: 3 })).toBe(1);
  });

  it("is over for the server when it is left, also before anything was read", async () => {
    const { parts, sink } = await watch();
    expect(await parts.return?.()).toEqual({ done: true, value: undefined });
    expect(sink.signal.aborted).toBe(true);
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });

  it("ends behind what was told", async () => {
    const { parts, sink, end } = await watch();
    sink.event?.("ADDED", { a: 1 });
    end();
    const told: BodyPart[] = [];
    for await (const part of { [Symbol.asyncIterator]: () => parts }) told.push(part);
    expect(told).toEqual([{ type: "ADDED", object: { a: 1 } }]);
  });

  it("fails once when the client is closed, and is at its end then", async () => {
    const { parts, transport } = await watch();
    const next = parts.next();
    await transport.close();
    await expect(next).rejects.toThrow("the client was closed");
    expect(await parts.next()).toEqual({ done: true, value: undefined });
  });
});

it("an answer as a whole has its value, its headers as they would be read, and its bytes", async () => {
  const answer = { status: 201, headers: { a: ["b", "c"] }, body: [Buffer.from("{}")], value: () => ({ kind: "X" }) };
  const transport = inProcess(() => answer, user);
  const taken = await transport.send({ ...request, goesOn: false });
  expect([taken.status, taken.headers, taken.value?.()]).toEqual([201, { a: "b, c" }, { kind: "X" }]);
  const bytes: BodyPart[] = [];
  for await (const part of taken.body) bytes.push(part);
  expect(bytes).toEqual([Buffer.from("{}")]);
  expect((await transport.send({ ...request, goesOn: false, takesValues: false })).value).toBeUndefined();
});
