import { describe, expect, it } from "vitest";
import { objectRoute, parseRoute } from "./route.ts";

describe("routes", () => {
  it.each([
    ["", "overview"],
    ["#/", "overview"],
    ["#/pods", "pods"],
    ["#/object/-/v1", "object"],
  ])("%s is the page %s", (fragment, page) => {
    expect(parseRoute(fragment).page).toBe(page);
  });

  it.each([
    { group: "", version: "v1", plural: "pods", namespace: "default", name: "web-1" },
    { group: "apps", version: "v1", plural: "deployments", namespace: "a", name: "b" },
    { group: "", version: "v1", plural: "nodes", namespace: "", name: "n1" },
    { group: "rbac.authorization.k8s.io", version: "v1", plural: "clusterroles", namespace: "", name: "system:a/b?c" },
  ])("leads to $plural $name and back", (place) => {
    expect(parseRoute(objectRoute(place, "yaml"))).toEqual({ page: "object", place, tab: "yaml" });
    expect(parseRoute(objectRoute(place))).toMatchObject({ place, tab: "summary" });
  });

  it("keeps what comes after the question mark", () => {
    const route = parseRoute("#/flows?object=deployment%2Fweb");
    expect("query" in route && route.query.get("object")).toBe("deployment/web");
  });
});
