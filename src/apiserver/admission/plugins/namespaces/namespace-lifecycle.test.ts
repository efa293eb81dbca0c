import { expect, it } from "vitest";
import { type Attempt, admit, namespaceObject, podObject } from "../../testing/index.ts";
import { namespaceExists } from "./namespace-exists.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";

const leaving = namespaceObject("a", { deletionTimestamp: "2030-01-01T00:00:00Z" });
const WHY = "unable to create new content in namespace a because it is being terminated";

const rows: (Attempt & { label: string; plugin?: typeof namespaceExists; why: string })[] = [
  { label: "a Pod in its namespace", object: podObject(), cluster: [namespaceObject()], why: "" },
  { label: "a Pod in no namespace", object: podObject(), why: 'namespaces "a" not found' },
  { label: "a Pod in one that goes away", object: podObject(), cluster: [leaving], why: WHY },
  {
    label: "an eviction in one that goes away",
    resource: "pods/eviction",
    object: podObject(),
    cluster: [leaving],
    why: WHY,
  },
  { label: "a change in one that goes away", object: podObject(), old: podObject(), cluster: [leaving], why: "" },
  { label: "a Node", resource: "nodes", object: { metadata: { name: "n" } }, why: "" },
  {
    label: "the end of a namespace",
    resource: "namespaces",
    operation: "DELETE",
    old: namespaceObject("b"),
    why: "",
  },
  {
    label: "the end of one that every cluster needs",
    resource: "namespaces",
    operation: "DELETE",
    old: namespaceObject("kube-system"),
    why: "this namespace may not be deleted",
  },
  { label: "any write", plugin: namespaceExists, object: podObject(), cluster: [namespaceObject()], why: "" },
  {
    label: "a change in no namespace",
    plugin: namespaceExists,
    object: podObject(),
    old: podObject(),
    why: 'namespaces "a" not found',
  },
  {
    label: "a deletion in no namespace",
    plugin: namespaceExists,
    operation: "DELETE",
    old: podObject(),
    why: 'namespaces "a" not found',
  },
];

it.each(rows)("$label", async ({ label: _, plugin = namespaceLifecycle, why, ...attempt }) => {
  expect(await admit(plugin, attempt)).toMatchObject({ why });
});
