import { describe, expect, it } from "vitest";
import type { KubeObject, OwnerReference } from "#api";
import { OwnerGraph } from "./graph.ts";

const resource = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const OWNER: OwnerReference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "owner" };

function object(uid: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return { metadata: { name: uid, namespace: "default", uid, resourceVersion: "1", ...metadata } };
}

describe("whose turn it is after a change", () => {
  const owned = object("child", { ownerReferences: [OWNER] });
  const LATER = "2030-01-01T00:00:00Z";
  const table: readonly { name: string; before: KubeObject; after: KubeObject; want: readonly string[] }[] = [
    { name: "of something else", before: owned, after: { ...owned }, want: [] },
    { name: "of an owner", before: owned, after: object("child"), want: ["owner"] },
    {
      name: "of what an owner waits for",
      before: owned,
      after: object("child", { ownerReferences: [{ ...OWNER, blockOwnerDeletion: true }] }),
      want: ["owner"],
    },
    {
      name: "of an owner's uid",
      before: owned,
      after: object("child", { ownerReferences: [{ ...OWNER, uid: "another" }] }),
      want: ["child", "owner"],
    },
    {
      name: "that ends it, with dependents that are to be set free",
      before: object("child", { finalizers: ["orphan"] }),
      after: object("child", { finalizers: ["orphan"], deletionTimestamp: LATER }),
      want: ["child"],
    },
    {
      name: "of the way in which it ends",
      before: object("child", { deletionTimestamp: LATER, finalizers: ["other"] }),
      after: object("child", { deletionTimestamp: LATER, finalizers: ["other", "foregroundDeletion"] }),
      want: ["child"],
    },
  ];
  it.each(table)("$name", ({ before, after, want }) => {
    const graph = new OwnerGraph();
    graph.set({ resource, object: object("owner") });
    graph.set({ resource, object: before });
    expect(graph.set({ resource, object: after })).toEqual(want);
    expect(graph.get("child")?.object).toBe(after);
  });
});
