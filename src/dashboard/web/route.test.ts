import { describe, expect, it } from "vitest";
import { listRoute, objectRoute, parseRoute } from "./route.ts";

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

  it.each([
    ["#/pods", "shop", "", "#/pods?namespace=shop"],
    ["#/pods?search=a&namespace=x", "", "b c", "#/pods?search=b+c&namespace=*"],
    ["#/volumes?of=claims&search=a", "x", "", "#/volumes?of=claims&namespace=x"],
    ["#/object/-/v1/pods/default/web-1", "x", "y", undefined],
  ])("%s in %j, searched for %j, is %s", (fragment, namespace, search, want) => {
    expect(listRoute(parseRoute(fragment), namespace, search)).toBe(want);
  });
});
