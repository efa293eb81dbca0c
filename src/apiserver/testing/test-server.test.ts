import { describe, expect, it } from "vitest";
import { configMap, testServer } from "./index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("the server in memory", () => {
  it("answers the same each time", async () => {
    const answers = await Promise.all(
      [1, 2].map(async () => {
        const server = await testServer();
        const answer = await server.request("POST", CONFIG_MAPS, { body: configMap("", {}, { generateName: "x-" }) });
        await server.close();
        return answer;
      }),
    );
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(answers[0]?.metadata).toMatchObject({
      name: expect.stringMatching(/^x-.{5}$/),
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      creationTimestamp: "2030-01-01T00:00:00Z",
    });
  });

  it("leaves nothing scheduled when closed", async () => {
    const server = await testServer();
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true`);
    await server.request("POST", CONFIG_MAPS, { body: configMap("a") });
    expect(await watch.seen()).toEqual(["ADDED a"]);
    expect(server.clock.pending).toBeGreaterThan(0);
    await server.close();
    await server.settle();
    expect({ ended: watch.ended, timers: server.clock.pending }).toEqual({ ended: true, timers: 0 });
  });
});
