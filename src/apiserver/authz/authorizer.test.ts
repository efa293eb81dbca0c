import { describe, expect, it } from "vitest";
import { requestInfo } from "../http/request-info.ts";
import { denied, mastersOnly } from "./authorizer.ts";

const ann = { name: "ann", groups: ["system:authenticated"] };
const admin = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const info = (method: string, path: string) => requestInfo(method, path, new URLSearchParams());

describe("who may do what", () => {
  it.each([
    { user: admin, method: "DELETE", path: "/api/v1/nodes", want: true },
    { user: admin, method: "GET", path: "/metrics", want: true },
    { user: ann, method: "GET", path: "/readyz", want: true },
    { user: ann, method: "HEAD", path: "/healthz", want: true },
    { user: ann, method: "GET", path: "/version", want: true },
    { user: ann, method: "POST", path: "/version", want: false },
    { user: ann, method: "GET", path: "/metrics", want: false },
    { user: ann, method: "GET", path: "/api/v1/pods", want: false },
  ])("$user.name $method $path: $want", async ({ user, method, path, want }) => {
    expect(await mastersOnly(user, info(method, path))).toBe(want);
  });
});

describe("what a refusal says", () => {
  it.each([
    { method: "GET", path: "/metrics", want: 'forbidden: User "ann" cannot get path "/metrics"' },
    {
      method: "GET",
      path: "/api/v1/namespaces/ns/pods/web/log",
      want: 'pods "web" is forbidden: User "ann" cannot get resource "pods/log" in API group "" in the namespace "ns"',
    },
    {
      method: "POST",
      path: "/apis/apps/v1/namespaces/ns/deployments",
      want: 'deployments.apps is forbidden: User "ann" cannot create resource "deployments" in API group "apps" in the namespace "ns"',
    },
    {
      method: "GET",
      path: "/api/v1/nodes",
      want: 'nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope',
    },
  ])("$method $path", ({ method, path, want }) => {
    expect(denied(ann, info(method, path))).toMatchObject({ code: 403, reason: "Forbidden", message: want });
  });
});
