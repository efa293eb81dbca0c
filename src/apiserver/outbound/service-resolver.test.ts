import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, testServer } from "../testing/index.ts";
import { serviceIpResolver } from "./service-resolver.ts";

const SERVICES = "/api/v1/namespaces/default/services";

describe("a Service by its own IP", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer();
    const specs = {
      plain: { clusterIP: "10.96.0.7", ports: [{ port: 443 }] },
      headless: { clusterIP: "None", ports: [{ port: 443 }] },
      elsewhere: { type: "ExternalName", externalName: "api.test" },
    };
    for (const [name, spec] of Object.entries(specs)) {
      const body = { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
      expect((await server.request("POST", SERVICES, { body })).status).toBe(201);
    }
  });
  afterAll(() => server.close());

  it.each([
    { name: "plain", want: { host: "10.96.0.7", port: 443 } },
    { name: "elsewhere", want: { host: "api.test", port: 443 } },
  ])("$name", ({ name, want }) => expect(serviceIpResolver(server.resources)("default", name, 443)).toEqual(want));

  it.each([
    { name: "headless", port: 443, problem: 'cannot route to service with ClusterIP "None"' },
    { name: "plain", port: 80, problem: 'no service port 80 found for service "plain"' },
    { name: "missing", port: 443, problem: 'service "missing" not found' },
  ])("$name:$port cannot be reached", ({ name, port, problem }) =>
    expect(() => serviceIpResolver(server.resources)("default", name, port)).toThrow(problem),
  );
});
