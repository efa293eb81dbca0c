import { describe, expect, it } from "vitest";
import { builtIn } from "#api";
import { MetricsRegistry, seededRandom, silentLogger, VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { ALLOW } from "../authz/verdict.ts";
import { ANONYMOUS } from "../identity/user.ts";
import { passThrough } from "../pipeline/compose.ts";
import { allWrites } from "../rest/all-writes.ts";
import { noAdmission } from "../rest/no-admission.ts";
import { assembleApiServer } from "./assemble.ts";
import type { AuthorizationPart, Front, ServerParts } from "./parts.ts";

/** Parts that let everything pass, and note when they are made and closed. */
function noted(order: string[], override: Partial<ServerParts<AuthorizationPart, Front>> = {}) {
  const clock = new VirtualClock();
  const parts: ServerParts<AuthorizationPart, Front> = {
    store: openMemoryStore({ clock }),
    sharedStore: false,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    metrics: new MetricsRegistry(),
    newUid: () => "uid",
    kinds: builtIn,
    resumableChanges: 0,
    historyWindowMs: 0,
    authorization: ({ closing }) => {
      order.push("authorization");
      closing.defer(() => void order.push("authorization closed"));
      return { authorize: () => ALLOW, writeAccess: allWrites };
    },
    admission: ({ closing }) => {
      order.push("admission");
      closing.defer(() => void order.push("admission closed"));
      return noAdmission;
    },
    bootstrap: async () => void order.push("bootstrap"),
    front: ({ background }) => {
      order.push("front");
      background.run("task", async (signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        order.push("task ended");
      });
      return {
        authenticate: () => ANONYMOUS,
        audit: passThrough,
        fairness: passThrough,
        connectors: { virtual: new Map(), subresources: new Map() },
        routes: { health: {} },
      };
    },
    ...override,
  };
  return parts;
}

describe("assembleApiServer", () => {
  it("makes the parts in the order of the phases, and closes them in reverse", async () => {
    const order: string[] = [];
    const server = await assembleApiServer(noted(order));
    expect(order.splice(0)).toEqual(["authorization", "admission", "bootstrap", "front"]);
    server.stopping.addEventListener("abort", () => order.push("stopping"));
    await server.close();
    expect(order).toEqual(["stopping", "admission closed", "authorization closed", "task ended"]);
  });

  it.each(["admission", "bootstrap", "front"] as const)("closes what is open when %s fails", async (phase) => {
    const order: string[] = [];
    const failing = { [phase]: () => Promise.reject(new Error("broken")) };
    if (phase === "admission")
      failing.admission = () => {
        throw new Error("broken");
      };
    await expect(assembleApiServer(noted(order, failing))).rejects.toThrow("broken");
    expect(order.filter((entry) => entry.endsWith("closed"))).toEqual(
      phase === "admission" ? ["authorization closed"] : ["admission closed", "authorization closed"],
    );
  });

  it("lets no part write before the server is complete", async () => {
    const order: string[] = [];
    const early = noted(order, {
      admission: ({ loopback }) => {
        expect(() => loopback.context).toThrow("asked to write before it is complete");
        return noAdmission;
      },
    });
    const server = await assembleApiServer(early);
    expect(server.loopback.context).toBe(server.context);
    await server.close();
  });
});
