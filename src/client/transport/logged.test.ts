import { describe, expect, it } from "vitest";
import { childController, createLogger, VirtualClock } from "#base";
import { logged } from "./logged.ts";
import type { Transport } from "./transport.ts";

describe("a transport that is logged", () => {
  const answering: Transport = {
    send: async ({ target }) => {
      if (target === "/broken") throw new Error("gone");
      return { status: 404, headers: {}, body: (async function* () {})() };
    },
    close: async () => {},
  };

  function world(verbosity: number) {
    const lines: string[] = [];
    const clock = new VirtualClock();
    const log = createLogger({ write: (line) => lines.push(line), format: "zap", level: "info", verbosity, clock });
    return { transport: logged(answering, "https://server", clock, log), lines };
  }

  it("has a record for each response and each failure", async () => {
    const { transport, lines } = world(6);
    const request = { method: "GET", headers: {}, ending: childController() };
    expect(await transport.send({ ...request, target: "/api" })).toMatchObject({ status: 404 });
    await expect(transport.send({ ...request, target: "/broken" })).rejects.toThrow("gone");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: "Response", v: 6, verb: "GET", url: "https://server/api", status: 404, milliseconds: 0 },
      { msg: "Response", url: "https://server/broken", err: "gone" },
    ]);
  });

  it("is the transport itself below verbosity 6", () => {
    expect(world(5).transport).toBe(answering);
  });
});
