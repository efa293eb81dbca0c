import { expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { podTopologyLabels as plugin } from "./pod-topology-labels.ts";

const ZONE = "topology.kubernetes.io/zone";
const node = { kind: "Node", apiVersion: "v1", metadata: { name: "n", labels: { [ZONE]: "z", other: "x" } } };
const binding = (kind: string) => ({ metadata: { name: "p" }, target: { kind, name: "n" } });

it.each([
  { name: "a Pod without a node", resource: "pods", object: podObject(), labels: undefined },
  { name: "a Pod with a node", resource: "pods", object: podObject({ nodeName: "n" }), labels: { [ZONE]: "z" } },
  {
    name: "a Pod with a node that is not there",
    resource: "pods",
    object: podObject({ nodeName: "m" }),
    labels: undefined,
  },
  {
    name: "a Pod that claims another zone",
    resource: "pods",
    object: podObject({ nodeName: "n" }, { labels: { [ZONE]: "y", a: "b" } }),
    labels: { [ZONE]: "z", a: "b" },
  },
  { name: "a binding", resource: "pods/binding", object: binding("Node"), labels: { [ZONE]: "z" } },
  { name: "a binding to something else", resource: "pods/binding", object: binding("Other"), labels: undefined },
])("$name", async ({ resource, object, labels }) => {
  expect((await admit(plugin, { resource, object, cluster: [node] })).object.metadata.labels).toEqual(labels);
});
