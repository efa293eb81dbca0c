import { afterEach, describe, expect, it } from "vitest";
import { type TestServer, testServer } from "../testing/index.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const PATH = "/api/v1/namespaces/default/configmaps";
const ALLOWED = { "access-control-allow-credentials": "true", "access-control-expose-headers": "Date" };

describe("headers for browsers", () => {
  const requests = { allowedOrigins: ["^https://(.*\\.)?page\\.test(:|$)"], strictTransport: ["max-age=1", "preload"] };

  it.each([
    { method: "GET", origin: "https://a.page.test:8443", status: 200, allowed: true },
    { method: "OPTIONS", origin: "https://page.test", status: 204, allowed: true },
    { method: "GET", origin: "https://page.test.evil", status: 200, allowed: false },
    { method: "GET", origin: "", status: 200, allowed: false },
  ])("$method from '$origin'", async ({ method, origin, status, allowed }) => {
    const server = await testServer({ requests });
    servers.push(server);
    const headers: Record<string, string> = origin === "" ? {} : { origin };
    const answer = await server.request(method, PATH, { headers });
    expect(answer.status).toBe(status);
    expect(answer.headers["strict-transport-security"]).toBe("max-age=1; preload");
    expect(answer.headers["access-control-allow-origin"]).toBe(allowed ? origin : undefined);
    if (allowed) expect(answer.headers).toMatchObject(ALLOWED);
  });

  it("a preflight is answered to anybody, another request is not", async () => {
    const server = await testServer({ requests });
    servers.push(server);
    const stranger = { headers: { origin: "https://page.test", authorization: "Bearer wrong" }, user: null };
    expect((await server.request("OPTIONS", PATH, stranger)).status).toBe(204);
    const refused = await server.request("GET", PATH, stranger);
    expect(refused.status).toBe(401);
    // The page may see why.
    expect(refused.headers).toMatchObject(ALLOWED);
  });

  it("are not sent by default", async () => {
    const server = await testServer();
    servers.push(server);
    const { headers } = await server.request("GET", PATH, { headers: { origin: "https://page.test" } });
    expect(Object.keys(headers).filter((name) => /^(access|strict)/.test(name))).toEqual([]);
  });
});
