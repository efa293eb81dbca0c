import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expired, type KubeObject, toStatus } from "#api";
import type { BodyPart } from "../transport/transport.ts";
import { type WatchEvent, watchEvents } from "./watch.ts";

const frame = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

async function* chunks(...parts: (string | Uint8Array)[]): AsyncIterable<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function all(body: AsyncIterable<BodyPart>, omitManagedFields = false): Promise<WatchEvent<KubeObject>[]> {
  const events: WatchEvent<KubeObject>[] = [];
  const begin = async () => ({ body, [Symbol.dispose]() {} });
  for await (const event of watchEvents<KubeObject>(begin, { omitManagedFields })) events.push(event);
  return events;
}

describe("watch events", () => {
  const object = { metadata: { name: "größer", resourceVersion: "7" } };

  it("are the same, however the bytes are cut", async () => {
    const bytes = Buffer.from(frame("ADDED", object) + frame("MODIFIED", object) + frame("BOOKMARK", object));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const events = await all(chunks(...at.slice(1).map((end, i) => bytes.subarray(at[i], end))));
        expect(events).toEqual([
          { type: "ADDED", object },
          { type: "MODIFIED", object },
          { type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: false },
        ]);
      }),
    );
  });

  it("leave managedFields away where nobody wants them, but never in what others have as well", async () => {
    const managed = { metadata: { ...object.metadata, managedFields: [{ manager: "kubectl" }] } };
    expect(await all(chunks(frame("ADDED", managed)))).toEqual([{ type: "ADDED", object: managed }]);
    expect(await all(chunks(frame("ADDED", managed)), true)).toEqual([{ type: "ADDED", object }]);
    async function* direct() {
      yield { type: "ADDED", object: managed };
    }
    expect(await all(direct(), true)).toEqual([{ type: "ADDED", object: managed }]);
  });

  it("an ERROR event is thrown as what it stands for", async () => {
    const status = frame("ERROR", toStatus(expired("too old resource version: 1")));
    await expect(all(chunks(frame("ADDED", object), status))).rejects.toMatchObject({ reason: "Expired", code: 410 });
  });

  it("an event whose end never came is none", async () => {
    expect(await all(chunks(frame("ADDED", object), '{"type":"ADD'))).toHaveLength(1);
  });

  it("an unknown type is an error", async () => {
    await expect(all(chunks(frame("MOVED", object)))).rejects.toThrow("unknown type: MOVED");
  });
});
