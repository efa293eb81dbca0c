import { expect, it } from "vitest";
import { resourcesOf } from "./discovery.ts";

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
