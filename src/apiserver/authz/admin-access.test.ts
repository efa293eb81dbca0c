import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestServer, testServer } from "../testing/index.ts";
import { DEFAULT_MODES } from "./config.ts";

const API = "/apis/resource.k8s.io/v1/namespaces/default";
const spec = (adminAccess: boolean) => ({
  devices: { requests: [{ name: "r", exactly: { deviceClassName: "c", adminAccess } }] },
});
const refusal =
  "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";

describe("admin access to devices", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await testServer({ modes: DEFAULT_MODES });
    await server.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "default" } } });
  });
  afterEach(() => server.close());

  const claim = async (adminAccess: boolean) =>
    server.request("POST", `${API}/resourceclaims`, { body: { metadata: { name: "a" }, spec: spec(adminAccess) } });

  it("is refused in a namespace without the label", async () => {
    const template = { metadata: { name: "a" }, spec: { spec: spec(true) } };
    const answers = [
      await claim(true),
      await server.request("POST", `${API}/resourceclaimtemplates`, { body: template }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422]);
    for (const { json } of answers) expect(json.message).toContain(refusal);
    expect((await claim(false)).status).toBe(201);
  });

  it("is given in one with the label", async () => {
    const body = { metadata: { labels: { "resource.kubernetes.io/admin-access": "true" } } };
    const headers = { "content-type": "application/merge-patch+json" };
    expect((await server.request("PATCH", "/api/v1/namespaces/default", { body, headers })).status).toBe(200);
    expect((await claim(true)).status).toBe(201);
  });
});
