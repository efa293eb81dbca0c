import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestServer, testServer } from "../testing/index.ts";
import { kubeletAddress } from "./kubelet-target.ts";

describe("where a kubelet is reached", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer();
    const addresses = [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "Hostname", address: "node" },
    ];
    const statuses = {
      silent: { addresses },
      telling: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 10_300 } } },
    };
    for (const [name, status] of Object.entries(statuses)) {
      const body = { apiVersion: "v1", kind: "Node", metadata: { name } };
      await server.request("POST", "/api/v1/nodes", { body });
      await server.request("PUT", `/api/v1/nodes/${name}/status`, { body: { ...body, status } });
    }
  });
  afterAll(() => server.close());

  it.each([
    { node: "silent", reach: {}, want: { host: "10.0.0.1", port: 10_250 } },
    { node: "silent", reach: { port: 10_350 }, want: { host: "10.0.0.1", port: 10_350 } },
    { node: "telling", reach: { port: 10_350, addressTypes: ["Hostname"] }, want: { host: "node", port: 10_300 } },
  ])("$node $reach", ({ node, reach, want }) => {
    const nodes = server.resources.find("", "v1", "nodes");
    if (nodes === undefined) throw new Error("nodes are not served");
    expect(kubeletAddress(nodes, node, reach)).toEqual(want);
  });
});
