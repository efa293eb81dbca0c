import { afterEach, describe, expect, it } from "vitest";
import { createLogger, VirtualClock } from "#base";
import { type TestServer, testServer } from "../testing/index.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(verbosity: number) {
  const lines: string[] = [];
  const clock = new VirtualClock();
  const log = createLogger({ write: (line) => lines.push(line), format: "zap", level: "info", verbosity, clock });
  const server = await testServer({ log, clock });
  servers.push(server);
  const requests = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "HTTP");
  return { server, requests };
}

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("requests in the log", () => {
  it("have the keys of kube-apiserver's", async () => {
    const { server, requests } = await start(3);
    await server.request("GET", `${CONFIG_MAPS}/none?pretty=true`, {
      headers: { "user-agent": "curl/8", "audit-id": "a-1" },
    });
    expect(requests()).toMatchObject([
      {
        logger: "httplog",
        v: 3,
        verb: "GET",
        URI: expect.stringContaining(`${CONFIG_MAPS}/none`),
        latency: expect.stringMatching(/s$/),
        userAgent: "curl/8",
        resp: 404,
      },
    ]);
    expect(requests()[0]).not.toHaveProperty("user");
  });

  it("are named by what they do", async () => {
    const { server, requests } = await start(3);
    await server.request("GET", CONFIG_MAPS);
    await server.request("POST", CONFIG_MAPS, {
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
    });
    const apply = { "content-type": "application/apply-patch+yaml" };
    await server.request("PATCH", `${CONFIG_MAPS}/a?fieldManager=x`, { headers: apply, body: "{}" });
    expect(requests().map(({ verb, resp }) => [verb, resp])).toEqual([
      ["LIST", 200],
      ["POST", 201],
      ["APPLY", expect.any(Number)],
    ]);
  });

  it("name the user from verbosity 6 on", async () => {
    const { server, requests } = await start(6);
    await server.request("GET", "/version");
    expect(requests()).toMatchObject([{ user: expect.any(String), URI: "/version", resp: 200 }]);
  });

  it("are logged when they end, if they are streams", async () => {
    const { server, requests } = await start(3);
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1`);
    expect(requests()).toEqual([]);
    await watch.close();
    await expect.poll(requests).toMatchObject([{ verb: "WATCH", resp: 200 }]);
  });

  it("are not logged below verbosity 3", async () => {
    const { server, requests } = await start(2);
    await server.request("GET", CONFIG_MAPS);
    expect(requests()).toEqual([]);
  });
});
