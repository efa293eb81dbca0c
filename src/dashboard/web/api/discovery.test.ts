import { expect, it } from "vitest";
import { accessibleOf, resourcesOf } from "./discovery.ts";

it("names every resource that can be listed, in the version that comes first", () => {
  const served = (resource: string, verbs: string[], scope = "Namespaced") => ({
    resource,
    verbs,
    scope,
    responseKind: { kind: resource.toUpperCase() },
  });
  const found = resourcesOf([
    {
      items: [
        { versions: [{ version: "v1", resources: [served("pods", ["list", "get"]), served("bindings", ["create"])] }] },
      ],
    },
    {
      items: [
        {
          metadata: { name: "example.com" },
          versions: [
            { version: "v2", resources: [served("widgets", ["list"], "Cluster")] },
            { version: "v1", resources: [served("widgets", ["list"], "Cluster"), served("olds", ["list"])] },
          ],
        },
      ],
    },
  ]);
  expect(found.map(({ group, version, plural, namespaced }) => `${plural}.${group}/${version} ${namespaced}`)).toEqual([
    "olds.example.com/v1 true",
    "pods./v1 true",
    "widgets.example.com/v2 false",
  ]);
});

it("names resources and subresources as rules do, with their verbs", () => {
  const scale = { subresource: "scale", verbs: ["get"] };
  const resources = [{ resource: "reviews", scope: "Cluster", verbs: ["create"] }];
  const found = accessibleOf([
    { items: [{ versions: [{ version: "v1", resources }] }] },
    {
      items: [
        {
          metadata: { name: "example.com" },
          versions: [
            {
              version: "v2",
              resources: [{ resource: "sets", scope: "Cluster", verbs: ["get"], subresources: [scale] }],
            },
            { version: "v1", resources: [{ resource: "sets", scope: "Cluster", verbs: ["list"] }] },
          ],
        },
      ],
    },
  ]);
  expect(found).toEqual([
    { name: "reviews", verbs: ["create"] },
    { name: "sets.example.com", verbs: ["get", "list"] },
    { name: "sets.example.com/scale", verbs: ["get"] },
  ]);
});
