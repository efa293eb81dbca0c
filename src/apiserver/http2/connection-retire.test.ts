/** A connection that retires: requests that are open, or that cross the announcement, are answered. */
import { describe, expect, it } from "vitest";
import { get } from "./testing/frames.ts";
import { TestClient } from "./testing/test-client.ts";

const ANNOUNCED = `goaway after ${2 ** 31 - 1}: noError`;

describe("a connection that retires", () => {
  it("accepts requests for a second, then no more, and ends with the last answer", async () => {
    const client = await TestClient.greeted();
    await client.send(get(1));
    client.connection.retire();
    client.connection.retire();
    await client.send(get(3));
    expect([client.sent, client.streams.length]).toEqual([[ANNOUNCED], 2]);
    await client.clock.advance(1_000);
    await client.send(get(5));
    expect([client.sent.at(-1), client.streams.length]).toEqual(["goaway after 3: noError", 2]);
    for (const stream of client.streams) {
      expect(client.ended).toBe(false);
      stream.respond(200, {});
      stream.end();
      await client.send();
    }
    expect(client.ended).toBe(true);
    await client.clock.advance(5_000);
    expect([client.socket.destroyed, client.clock.pending]).toEqual([true, 0]);
  });

  it("ends with the second announcement if the client has hung up", async () => {
    const client = await TestClient.greeted();
    client.connection.retire();
    await client.hangUp();
    await client.clock.advance(1_000);
    expect([client.socket.destroyed, client.clock.pending]).toEqual([true, 0]);
  });
});
