import { describe, expect, it } from "vitest";
import { MetricsRegistry, VirtualClock } from "#base";
import type { ApiResponse } from "../http/exchange.ts";
import { requestInfo } from "../http/request-info.ts";
import type { Attributed } from "../pipeline/exchange.ts";
import { maxInFlight } from "./max-in-flight.ts";

const ok: ApiResponse = { status: 200, headers: {}, body: [] };

describe("without priority and fairness", () => {
  it.each<{ name: string; limits: [number, number]; requests: readonly string[]; want: readonly number[] }>([
    { name: "reads have their limit", limits: [2, 1], requests: ["GET", "GET", "GET"], want: [200, 200, 429] },
    { name: "and writes theirs", limits: [1, 1], requests: ["GET", "PUT", "POST"], want: [200, 200, 429] },
    { name: "or none", limits: [0, 0], requests: ["GET", "GET", "PUT", "PUT"], want: [200, 200, 200, 200] },
    { name: "masters have none", limits: [1, 1], requests: ["GET", "master GET"], want: [200, 200] },
    { name: "watches do not count", limits: [1, 1], requests: ["WATCH", "WATCH", "GET"], want: [200, 200, 200] },
  ])("$name", async ({ limits: [reading, mutating], requests, want }) => {
    const [metrics, clock] = [new MetricsRegistry(), new VirtualClock()];
    const step = maxInFlight({ reading, mutating }, { metrics, clock });
    const gate = Promise.withResolvers<ApiResponse>();
    const asked = requests.map((request) => {
      const [method = "", who = ""] = request.split(" ").reverse();
      const query = new URLSearchParams(method === "WATCH" ? "watch=1" : "");
      const info = requestInfo(method === "WATCH" ? "GET" : method, "/api/v1/pods", query);
      const groups = who === "master" ? ["system:masters"] : [];
      return step({ info, user: { name: "u", groups } } as unknown as Attributed, () => gate.promise);
    });
    await clock.advance(1_000);
    const served = want.filter((status) => status === 200).length;
    const counted = metrics.text().match(/^apiserver_current_inflight_requests\{.*\} (\d+)$/gm) ?? [];
    const watched = requests.filter((request) => request === "WATCH").length;
    expect(counted.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0)).toBe(served - watched);
    gate.resolve(ok);
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(want);
    expect(
      (
        await step(
          {
            info: requestInfo("GET", "/x", new URLSearchParams()),
            user: { name: "u", groups: [] },
          } as unknown as Attributed,
          async () => ok,
        )
      ).status,
    ).toBe(200);
  });
});
