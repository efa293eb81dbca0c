/**
 * OwnerReferencesPermissionEnforcement: a user that changes the owner references of an object must be allowed to delete
 * it, and one that sets blockOwnerDeletion must be allowed to set the finalizers of the owner.
 */
import { equalJson, type Json, type KubeObject, type OwnerReference } from "#api";
import { resourceAttributes } from "../../../authz/attributes.ts";
import type { Authorizer } from "../../../authz/authorizer.ts";
import type { Resources } from "../../../rest/resources.ts";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";

export interface OwnerServices {
  readonly authorize: Authorizer;
  readonly resources: Resources;
}

export function ownerReferencesPermissionEnforcement({ authorize, resources }: OwnerServices): AdmissionPlugin {
  const demand = async (attributes: AdmissionAttributes, verb: string, about: object, why: string) => {
    const { decision, reason, error } = await authorize(resourceAttributes(attributes.user, verb, about));
    if (decision !== "allow") throw refused(attributes, `${why}: ${reason}, ${error ?? "<nil>"}`);
  };
  const check = async (attributes: AdmissionAttributes) => {
    const { operation, resource, subresource, namespace, name } = attributes;
    const { group: apiGroup, version: apiVersion, names } = resource.kind;
    if (operation !== "CREATE") {
      const about = { apiGroup, apiVersion, resource: names.plural, subresource, namespace, name };
      await demand(attributes, "delete", about, "cannot set an ownerRef on a resource you can't delete");
    }
    for (const owner of newlyBlocking(attributes)) {
      const [version = "", group = ""] = owner.apiVersion.split("/").reverse();
      const owners = [...resources.all()].filter(
        ({ kind }) => kind.group === group && kind.version === version && kind.kind === owner.kind,
      );
      if (owners.length === 0) {
        const why = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${owner.apiVersion} Kind ${owner.kind}: no matches for kind "${owner.kind}" in version "${owner.apiVersion}"`;
        throw refused(attributes, why);
      }
      for (const { kind } of owners) {
        const about = {
          apiGroup: group,
          apiVersion: version,
          resource: kind.names.plural,
          subresource: "finalizers",
          namespace: kind.scope === "Namespaced" ? namespace : "",
          name: owner.name,
        };
        const why =
          "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
        await demand(attributes, "update", about, why);
      }
    }
  };
  return {
    name: "OwnerReferencesPermissionEnforcement",
    validates: [
      rule(
        "CREATE UPDATE",
        "*/*",
        (attributes) => {
          const { resource, subresource, object, old } = attributes;
          // Old kubelets send wrong ones there, and a status write cannot change them anyway.
          if (resource.kind.kind === "Pod" && subresource === "status") return;
          if (!isSame(ownersOf(object), ownersOf(old))) return check(attributes);
        },
        { looks: () => false },
      ),
    ],
  };
}

function ownersOf(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata?.ownerReferences ?? [];
}

function isSame(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  return equalJson(a as unknown as Json, b as unknown as Json);
}

function newlyBlocking({ object, old }: AdmissionAttributes): readonly OwnerReference[] {
  const before = new Map(ownersOf(old).map((owner) => [owner.uid, owner]));
  return ownersOf(object).filter(
    ({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && before.get(uid)?.blockOwnerDeletion !== true,
  );
}
