/** Health-check node ports, asked as a load balancer asks. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import type { core, discovery } from "#api";
import { silentLogger } from "#base";
import { HealthChecks } from "./health-checks.ts";

function service(healthCheckNodePort: number, externalTrafficPolicy: "Local" | "Cluster" = "Local"): core.Service {
  return { metadata: {}, spec: { type: "LoadBalancer", externalTrafficPolicy, healthCheckNodePort } };
}

function slice(...endpoints: [nodeName: string, address: string, ready: boolean][]): discovery.EndpointSlice {
  return {
    metadata: {},
    addressType: "IPv4",
    ports: [],
    endpoints: endpoints.map(([nodeName, address, ready]) => ({
      nodeName,
      addresses: [address],
      conditions: { ready },
    })),
  };
}

async function freePort(): Promise<number> {
  const server: Server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

it("say whether there is somebody here who is ready", async () => {
  await using checks = new HealthChecks({ node: { name: "n1", addresses: ["127.0.0.1"] }, log: silentLogger });
  const port = await freePort();
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/anything`, { headers: { connection: "close" } });
    return {
      status: answer.status,
      weight: answer.headers.get("x-load-balancing-endpoint-weight"),
      body: await answer.json(),
    };
  };
  const body = (localEndpoints: number, serviceProxyHealthy = true) => ({
    service: { namespace: "default", name: "web" },
    localEndpoints,
    serviceProxyHealthy,
  });
  checks.update("default/web", service(port), [
    slice(["n1", "10.0.0.1", true], ["n1", "10.0.0.2", true], ["n2", "10.0.0.3", true], ["n1", "10.0.0.4", false]),
    slice(["n1", "10.0.0.1", true]),
  ]);
  await expect.poll(ask).toEqual({ status: 200, weight: "2", body: body(2) });
  checks.setHealthy(false);
  expect(await ask()).toEqual({ status: 503, weight: "2", body: body(2, false) });
  checks.setHealthy(true);
  checks.update("default/web", service(port), [slice(["n2", "10.0.0.3", true])]);
  expect(await ask()).toEqual({ status: 503, weight: "0", body: body(0) });
  checks.update("default/web", service(port, "Cluster"), []);
  await expect(ask()).rejects.toThrow();
  checks.update("default/web", service(port), [slice(["n1", "10.0.0.1", true])]);
  await expect.poll(async () => (await ask()).status).toBe(200);
  checks.update("default/web", undefined, []);
  await expect(ask()).rejects.toThrow();
});
