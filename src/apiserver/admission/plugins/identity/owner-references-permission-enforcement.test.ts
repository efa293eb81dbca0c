import { describe, expect, it } from "vitest";
import type { Attributes } from "../../../authz/attributes.ts";
import { ALLOW, noOpinion } from "../../../authz/verdict.ts";
import type { Resources } from "../../../rest/resources.ts";
import { admit, podObject, resourceOf } from "../../testing/index.ts";
import { ownerReferencesPermissionEnforcement } from "./owner-references-permission-enforcement.ts";

const resources = { all: () => [resourceOf("replicasets.apps"), resourceOf("nodes")] } as unknown as Resources;
const allowing =
  (...allowed: string[]) =>
  ({ verb, resource, subresource, namespace }: Attributes) =>
    allowed.includes(`${verb} ${resource}${subresource && `/${subresource}`} ${namespace}`)
      ? ALLOW
      : noOpinion("not you");
const owner = (more: object = {}) => ({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "1", ...more });
const owned = (...ownerReferences: object[]) => podObject({}, { ownerReferences });

const rows = [
  { name: "no owners", object: podObject() },
  { name: "a new object with an owner", object: owned(owner()) },
  { name: "owners that stay", old: owned(owner()), object: owned(owner()) },
  {
    name: "an owner for what one may not delete",
    old: podObject(),
    object: owned(owner()),
    why: "cannot set an ownerRef on a resource you can't delete: not you, <nil>",
  },
  { name: "an owner for what one may delete", old: podObject(), object: owned(owner()), allowed: ["delete pods a"] },
  {
    name: "an owner that has to wait, and is not one's own",
    object: owned(owner({ blockOwnerDeletion: true })),
    why: "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: not you, <nil>",
  },
  {
    name: "an owner that has to wait",
    object: owned(owner({ blockOwnerDeletion: true })),
    allowed: ["update replicasets/finalizers a"],
  },
  {
    name: "an owner of the cluster that has to wait",
    object: owned({ apiVersion: "v1", kind: "Node", name: "n", uid: "2", blockOwnerDeletion: true }),
    allowed: ["update nodes/finalizers "],
  },
  {
    name: "an owner of a kind that nobody knows",
    object: owned(owner({ kind: "Thing", blockOwnerDeletion: true })),
    why: 'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Thing: no matches for kind "Thing" in version "apps/v1"',
  },
  { name: "the status of a pod", old: podObject(), object: owned(owner()), resource: "pods/status" },
];

describe("OwnerReferencesPermissionEnforcement", () => {
  it.each(rows)("$name", async ({ object, old, allowed = [], resource = "pods", why = "" }) => {
    const plugin = ownerReferencesPermissionEnforcement({ authorize: allowing(...allowed), resources });
    expect(await admit(plugin, { object, ...(old && { old }), resource })).toMatchObject({ why });
  });
});
