import { describe, expect, it } from "vitest";
import { requestInfo } from "../http/request-info.ts";
import type { Resources } from "../rest/resources.ts";
import { WatchCounts } from "./watch-counts.ts";
import { WorkEstimator } from "./work-estimate.ts";

/** Pods: 1,500; all else is not served. */
const resources = {
  find: (_group: string, _version: string, plural: string) =>
    plural === "pods" ? { cache: { size: 1500 } } : undefined,
} as unknown as Resources;

function ask(request: string, levelSeats = 0, watches = new WatchCounts()) {
  const [method = "", url = ""] = request.split(" ");
  const [path = "", text = ""] = url.split("?");
  const query = new URLSearchParams(text);
  return new WorkEstimator(resources, watches).estimate(requestInfo(method, path, query), query, levelSeats, {
    observe: () => {},
  });
}

describe("seats", () => {
  it.each([
    ["GET /api/v1/namespaces/a/pods/x", 0, 1],
    ["GET /version", 0, 1],
    ["GET /api/v1/pods", 0, 10],
    ["GET /api/v1/pods", 8, 8],
    ["GET /api/v1/pods?limit=500", 0, 5],
    ["GET /api/v1/pods?limit=500&labelSelector=a", 0, 10],
    ["GET /api/v1/pods?fieldSelector=metadata.name%3Dx", 0, 1],
    ["GET /api/v1/nodes", 0, 1],
    ["GET /api/v1/pods?watch=1", 0, 10],
    ["GET /api/v1/pods?watch=1&resourceVersion=0", 0, 10],
    ["GET /api/v1/pods?watch=1&resourceVersion=7", 0, 1],
    ["GET /api/v1/pods?watch=1&resourceVersion=7&sendInitialEvents=true", 0, 10],
    ["DELETE /api/v1/namespaces/a/pods", 0, 1],
    ["POST /api/v1/namespaces/a/pods", 0, 1],
  ])("%s, %i at most: %i", (request, levelSeats, want) => {
    expect(ask(request, levelSeats)).toEqual({ seats: want, finalSeats: 0, finalMs: 0 });
  });
});

describe("seats after a write", () => {
  const watching = (...urls: readonly string[]) => {
    const watches = new WatchCounts();
    for (const url of urls) {
      const [path = "", text = ""] = url.split("?");
      const query = new URLSearchParams(`watch=1&${text}`);
      watches.add(requestInfo("GET", path, query), query);
    }
    return watches;
  };
  const times = (count: number, url: string) => Array<string>(count).fill(url);

  it.each([
    { name: "few watches", watches: times(9, "/api/v1/pods"), final: [0, 0] },
    { name: "of all", watches: times(25, "/api/v1/pods"), final: [3, 5] },
    { name: "more than a request may have", watches: times(400, "/api/v1/pods"), final: [10, 20] },
    { name: "in the namespace", watches: times(10, "/api/v1/namespaces/a/pods"), final: [1, 5] },
    { name: "in another", watches: times(10, "/api/v1/namespaces/b/pods"), final: [0, 0] },
    {
      name: "of one object",
      watches: times(10, "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx"),
      final: [1, 5],
    },
    { name: "of a node's", watches: times(10, "/api/v1/pods?fieldSelector=spec.nodeName%3Dn"), final: [0, 0] },
    { name: "of another kind", watches: times(10, "/api/v1/nodes"), final: [0, 0] },
  ])("$name", ({ watches, final }) => {
    const { finalSeats, finalMs } = ask("PUT /api/v1/namespaces/a/pods/x", 0, watching(...watches));
    expect([finalSeats, finalMs]).toEqual(final);
  });

  it("are not needed where nothing changes", () => {
    const watches = watching(...times(50, "/api/v1/serviceaccounts"));
    expect(ask("POST /api/v1/namespaces/a/serviceaccounts/x/token", 0, watches).finalSeats).toBe(0);
  });

  it("are no longer needed once watches have ended", () => {
    const watches = new WatchCounts();
    const info = requestInfo("GET", "/api/v1/pods", new URLSearchParams("watch=1"));
    const forget = watches.add(info, new URLSearchParams());
    expect(watches.concerned({ ...info, verb: "create" })).toBe(1);
    forget();
    forget();
    expect(watches.concerned({ ...info, verb: "create" })).toBe(0);
  });
});
