/** RFC 9113, 3.4: a client has half a minute to start its connection. */
import { describe, expect, it } from "vitest";
import { PREFACE } from "./codes.ts";
import { TestClient } from "./testing/test-client.ts";

describe("a connection", () => {
  it.each([
    ["nothing", []],
    ["the half of it", [PREFACE.subarray(0, 12)]],
    ["no settings", [PREFACE]],
  ])("closes a connection whose client does not start it: %s", async (_, given) => {
    const client = new TestClient();
    await client.send(...given);
    await client.clock.advance(29_000);
    expect(client.socket.destroyed).toBe(false);
    await client.clock.advance(2_000);
    expect(client.socket.destroyed).toBe(true);
    expect(client.sent.at(-1)).toBe("goaway after 0: protocolError");
  });
});
