/** A connection without requests is closed; an open request, such as a watch, keeps it open. */
import { describe, expect, it } from "vitest";
import { settled } from "#base";
import type { Http2Stream } from "./stream.ts";
import { get, headers, ping, rstStream, settings } from "./testing/frames.ts";
import { IDLE_MS, TestClient } from "./testing/test-client.ts";

const answer = (stream: Http2Stream) => {
  stream.respond(200, {});
  stream.end();
};

/** What the client sends every second. */
const idle: readonly { name: string; first?: Buffer; each?: (second: number) => Buffer; after: number }[] = [
  { name: "nothing", after: 0 },
  { name: "PING", each: () => ping(), after: 0 },
  { name: "SETTINGS", each: () => settings(), after: 0 },
  { name: "HEADERS without END_HEADERS", first: headers(1, [], 0), after: 0 },
  { name: "a request that was answered", first: get(1), after: 1 },
];

describe("a connection without a request is closed after a while", () => {
  it.each(idle)("$name", async ({ first, each, after }) => {
    const client = await TestClient.greeted({ onStream: answer });
    await client.clock.advance(1_000);
    const restSeconds = (IDLE_MS - (after === 0 ? 1_000 : 0)) / 1_000;
    if (first !== undefined) await client.send(first);
    for (let second = 1; second < restSeconds; second++) {
      await client.clock.advance(1_000);
      if (each !== undefined) await client.send(each(second));
    }
    expect(client.ended).toBe(false);
    await client.clock.advance(1_000);
    expect(client.sent.at(-1)).toBe(`goaway after ${after}: noError`);
    expect(client.ended).toBe(true);
    // A client that does not close its side is not awaited.
    expect(client.socket.destroyed).toBe(false);
    await client.clock.advance(5_000);
    expect([client.socket.destroyed, client.clock.pending]).toEqual([true, 0]);
  });

  it("reads requests that cross GOAWAY, and ends when the client does", async () => {
    const client = await TestClient.greeted();
    await client.clock.advance(IDLE_MS);
    await client.send(get(1));
    expect([client.sent, client.streams]).toEqual([["goaway after 0: noError"], []]);
    await client.hangUp();
    expect([client.socket.destroyed, client.clock.pending]).toEqual([true, 0]);
  });

  it("also if the client reads nothing", async () => {
    const client = await TestClient.greeted({ onStream: answer });
    client.deafen();
    await client.send(get(1));
    await client.clock.advance(IDLE_MS + 5_000);
    expect([client.socket.destroyed, client.clock.pending]).toEqual([true, 0]);
  });
});

describe("a connection with a request under way stays", () => {
  it("for hours, and is idle from the end of the last request on", async () => {
    const client = await TestClient.greeted();
    await client.clock.advance(IDLE_MS - 1);
    await client.send(get(1), get(3));
    await client.clock.advance(3 * 3_600_000);
    expect([client.ended, client.connection.streams]).toEqual([false, 2]);
    answer(client.stream(0));
    await client.send(rstStream(3));
    expect(client.connection.streams).toBe(0);
    await client.clock.advance(IDLE_MS - 1);
    expect(client.ended).toBe(false);
    await client.clock.advance(1);
    expect(client.ended).toBe(true);
  });

  it("with one request after the other", async () => {
    const client = await TestClient.greeted({ onStream: answer });
    for (let id = 1; id < 21; id += 2) {
      await client.send(get(id));
      await client.clock.advance(IDLE_MS - 1_000);
    }
    await settled();
    expect([client.ended, client.streams.length]).toEqual([false, 10]);
  });
});
