import { describe, expect, it } from "vitest";
import { isTrue, type RequestInfo, RequestInfos, requestInfo } from "./request-info.ts";

const info = (method: string, target: string) => {
  const [path = "", query = ""] = target.split("?");
  return requestInfo(method, path, new URLSearchParams(query));
};

describe("what a request is about", () => {
  const cases: { request: string; want: Partial<RequestInfo> }[] = [
    // core and groups
    {
      request: "GET /api/v1/pods",
      want: { verb: "list", apiGroup: "", apiVersion: "v1", resource: "pods", namespace: "", name: "" },
    },
    { request: "GET /api/v1/namespaces/ns/pods", want: { verb: "list", namespace: "ns", resource: "pods", name: "" } },
    {
      request: "GET /api/v1/namespaces/ns/pods/web",
      want: { verb: "get", namespace: "ns", resource: "pods", name: "web" },
    },
    { request: "HEAD /api/v1/namespaces/ns/pods/web", want: { verb: "get", name: "web" } },
    {
      request: "GET /apis/apps/v1/namespaces/ns/deployments/web",
      want: { verb: "get", apiGroup: "apps", apiVersion: "v1", namespace: "ns", resource: "deployments", name: "web" },
    },
    // verbs
    { request: "POST /api/v1/namespaces/ns/pods", want: { verb: "create", name: "" } },
    { request: "PUT /api/v1/namespaces/ns/pods/web", want: { verb: "update", name: "web" } },
    { request: "PATCH /api/v1/namespaces/ns/pods/web", want: { verb: "patch", name: "web" } },
    { request: "DELETE /api/v1/namespaces/ns/pods/web", want: { verb: "delete", name: "web" } },
    { request: "DELETE /api/v1/namespaces/ns/pods", want: { verb: "deletecollection", name: "" } },
    { request: "OPTIONS /api/v1/pods", want: { verb: "", isResourceRequest: true } },
    // watches
    { request: "GET /api/v1/pods?watch=true", want: { verb: "watch", resource: "pods" } },
    { request: "GET /api/v1/pods?watch", want: { verb: "watch" } },
    { request: "GET /api/v1/pods?watch=1", want: { verb: "watch" } },
    { request: "GET /api/v1/pods?watch=0", want: { verb: "list" } },
    { request: "GET /api/v1/pods?watch=False", want: { verb: "list" } },
    { request: "GET /api/v1/namespaces/ns/pods/web?watch=true", want: { verb: "get", name: "web" } },
    { request: "GET /api/v1/watch/pods", want: { verb: "watch", resource: "pods", name: "" } },
    {
      request: "GET /api/v1/watch/namespaces/ns/pods/web",
      want: { verb: "watch", namespace: "ns", resource: "pods", name: "web" },
    },
    {
      request: "GET /apis/apps/v1/watch/deployments",
      want: { verb: "watch", apiGroup: "apps", resource: "deployments" },
    },
    // namespaces themselves
    { request: "GET /api/v1/namespaces", want: { verb: "list", resource: "namespaces", namespace: "", name: "" } },
    {
      request: "GET /api/v1/namespaces/ns",
      want: { verb: "get", resource: "namespaces", namespace: "ns", name: "ns" },
    },
    {
      request: "PUT /api/v1/namespaces/ns/finalize",
      want: { verb: "update", resource: "namespaces", name: "ns", subresource: "finalize" },
    },
    {
      request: "PUT /api/v1/namespaces/ns/status",
      want: { resource: "namespaces", name: "ns", subresource: "status" },
    },
    // subresources, and what stands behind them
    {
      request: "GET /api/v1/namespaces/ns/pods/web/log",
      want: { verb: "get", name: "web", subresource: "log", rest: "" },
    },
    {
      request: "POST /api/v1/namespaces/ns/services/web:80/proxy/a/b",
      want: { name: "web:80", subresource: "proxy", rest: "a/b" },
    },
    {
      request: "GET /api/v1/nodes/n1/proxy/metrics",
      want: { namespace: "", resource: "nodes", name: "n1", subresource: "proxy", rest: "metrics" },
    },
    // names that are escaped, or not well
    { request: "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", want: { name: "system:node" } },
    { request: "GET /api/v1/nodes/100%", want: { name: "100%" } },
    // a list of one name is about that name
    {
      request: "GET /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dweb",
      want: { verb: "list", name: "web" },
    },
    {
      request: "GET /api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn,metadata.name%3D%3Dweb",
      want: { verb: "watch", name: "web" },
    },
    { request: "GET /api/v1/pods?fieldSelector=metadata.name!%3Dweb", want: { verb: "list", name: "" } },
    { request: "GET /api/v1/pods?fieldSelector=metadata.name%3Da%2Fb", want: { verb: "list", name: "" } },
    { request: "GET /api/v1/pods?fieldSelector=metadata.name", want: { verb: "list", name: "" } },
    {
      request: "DELETE /api/v1/namespaces/ns/pods?fieldSelector=metadata.name%3Dweb",
      want: { verb: "deletecollection", name: "" },
    },
    // not about resources
    { request: "GET /", want: { isResourceRequest: false, verb: "get" } },
    { request: "GET /healthz", want: { isResourceRequest: false, verb: "get", path: "/healthz" } },
    { request: "POST /healthz", want: { isResourceRequest: false, verb: "post" } },
    { request: "GET /api", want: { isResourceRequest: false } },
    { request: "GET /api/v1", want: { isResourceRequest: false, apiVersion: "v1" } },
    { request: "GET /apis", want: { isResourceRequest: false } },
    { request: "GET /apis/apps", want: { isResourceRequest: false, apiGroup: "apps", apiVersion: "" } },
    { request: "GET /apis/apps/v1/", want: { isResourceRequest: false, apiGroup: "apps", apiVersion: "v1" } },
  ];
  it.each(cases)("$request", ({ request, want }) => {
    const [method = "", target = ""] = request.split(" ");
    expect(info(method, target)).toMatchObject(want);
  });

  it("is the same where paths are remembered, whatever came before", () => {
    const infos = new RequestInfos();
    const asked = (method: string, target: string) => {
      const [path = "", query = ""] = target.split("?");
      const { topic: _, ...rest } = infos.of(method, path, new URLSearchParams(query));
      return rest;
    };
    const paths = ["/api/v1/namespaces/", "/api/v1/pods/", "/api/v1/namespaces/a/pods/"];
    // With empty parts: what seems to be a namespace may be a name.
    const more = [...paths, ...paths.map((path) => `${path}/`), "/api/v1//namespaces/", "/api//v1/pods/"].flatMap(
      (path) => ["", "a", "b", "a%2Fb", "status", "watch", "a/status", "a?watch=1"].map((end) => path + end),
    );
    const requests = [
      ...cases.map(({ request }) => request.split(" ")),
      ...more.flatMap((path) => [
        ["GET", path],
        ["DELETE", path],
      ]),
    ];
    for (let round = 0; round < 3; round++)
      for (const [method = "", target = ""] of requests) expect(asked(method, target)).toEqual(info(method, target));
  });

  it("has a topic in common with what differs from it in its name alone", () => {
    const infos = new RequestInfos();
    const topic = (request: string) => {
      const [method = "", path = ""] = request.split(" ");
      return infos.of(method, path, new URLSearchParams()).topic;
    };
    const pod = topic("GET /api/v1/namespaces/a/pods/x");
    expect(pod).toBeDefined();
    expect(topic("GET /api/v1/namespaces/a/pods/y")).toBe(pod);
    const others = ["GET /api/v1/namespaces/b/pods/x", "DELETE /api/v1/namespaces/a/pods/x", "GET /api/v1/pods/x"];
    expect(new Set([pod, ...others.map(topic)]).size).toBe(4);
    const status = topic("GET /api/v1/namespaces/a/pods/x/status");
    expect(status).toBeDefined();
    expect(topic("GET /api/v1/namespaces/a/pods/y/status")).toBe(status);
    const parts = [
      "GET /api/v1/namespaces/a/pods/x/log",
      "GET /api/v1/namespaces/b/pods/x/status",
      "PATCH /api/v1/namespaces/a/pods/x/status",
      "GET /api/v1/nodes/x/status",
    ];
    expect(new Set([pod, status, ...parts.map(topic)]).size).toBe(6);
    expect(topic("GET /api/v1/namespaces/a/pods/%61/status")).toBeUndefined();
    expect(topic("GET /api/v1/namespaces/a/pods/x/proxy/y")).toBeUndefined();
    expect(topic("GET /api/v1/namespaces/a/status")).toBeUndefined();
    expect(topic("GET /api/v1/namespaces/a")).toBeUndefined();
  });

  it("is forgotten when there is too much of it", () => {
    const infos = new RequestInfos();
    const asked = (i: number) => infos.of("GET", `/api/v1/namespaces/n${i}/pods`, new URLSearchParams());
    const first = asked(0);
    expect(asked(0)).toBe(first);
    for (let i = 1; i < 5000; i++) expect(asked(i).namespace).toBe(`n${i}`);
    expect(asked(0)).not.toBe(first);
    expect(asked(0)).toEqual(expect.objectContaining({ verb: "list", resource: "pods", namespace: "n0" }));
  });
});

describe("parameters that are booleans", () => {
  it.each([
    [null, false],
    ["", true],
    ["true", true],
    ["1", true],
    ["yes", true],
    ["0", false],
    ["false", false],
    ["FALSE", false],
  ])("%s is %s", (value, want) => {
    expect(isTrue(value)).toBe(want);
  });
});
