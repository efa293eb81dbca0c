/** What is made of documents of others, whatever they hold. */
import { describe, expect, it } from "vitest";
import type { Json } from "#api";
import { asDiscovery } from "./remote-discovery.ts";
import { fragmentIn } from "./remote-openapi.ts";

describe("asDiscovery", () => {
  it("puts subresources below their resources, also where these are missing", () => {
    const found = asDiscovery([
      { name: "pods/log", namespaced: true, kind: "Pod", verbs: ["get"] },
      { name: "nodes", singularName: "node", namespaced: false, kind: "Node", verbs: ["list"], categories: ["all"] },
      { name: "nodes/scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get"] },
    ]);
    expect(found).toEqual([
      {
        resource: "nodes",
        responseKind: { group: "", version: "", kind: "Node" },
        scope: "Cluster",
        singularResource: "node",
        verbs: ["list"],
        categories: ["all"],
        subresources: [
          {
            subresource: "scale",
            responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
            verbs: ["get"],
          },
        ],
      },
      {
        resource: "pods",
        responseKind: { group: "", version: "", kind: "" },
        scope: "Namespaced",
        singularResource: "",
        verbs: [],
        subresources: [{ subresource: "log", responseKind: { group: "", version: "", kind: "Pod" }, verbs: ["get"] }],
      },
    ]);
  });
});

describe("fragmentIn", () => {
  it("takes the paths of the version, and all that they lead to", () => {
    const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
    const document = {
      paths: {
        "/apis/a/v1/x": { get: { parameters: [{ $ref: "#/parameters/p" }], schema: ref("A") } },
        "/apis/a/v10/x": { get: { schema: ref("Other") } },
        "/apis/a/v1": 7,
      },
      definitions: {
        A: { properties: { b: ref("B") } },
        B: { properties: { a: ref("A"), gone: ref("Gone") } },
        Other: {},
      },
      parameters: { p: { name: "p" }, q: {} },
    };
    const { paths, types, parameters } = fragmentIn(document, "/apis/a/v1");
    expect([[...paths.keys()], [...types.keys()], [...parameters.keys()]]).toEqual([
      ["/apis/a/v1/x"],
      ["A", "B", "Gone"],
      ["p"],
    ]);
  });

  it.each<Json>([null, [], "x", {}, { paths: [] }, { paths: { "/apis/a/v1/x": null } }])(
    "finds nothing in %j",
    (document) => {
      expect(fragmentIn(document, "/apis/a/v1").paths.size).toBe(0);
    },
  );

  it("refuses what is nested deeper than any schema", () => {
    let deep: Json = {};
    for (let i = 0; i < 100_000; i++) deep = { properties: deep };
    expect(() => fragmentIn({ paths: { "/apis/a/v1/x": deep } }, "/apis/a/v1")).toThrow("nested too deeply");
  });
});
