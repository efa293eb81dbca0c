/** Creates a Pod from a template, with its owner. */
import type { core, KubeObject } from "#api";
import { ownedBy } from "../runtime/index.ts";
import type { Pod } from "./pod-state.ts";

export function podFromTemplate(
  template: core.PodTemplateSpec | undefined,
  owner: KubeObject,
  ownerKind: { apiVersion: string; kind: string },
): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  const { name = "", namespace = "" } = owner.metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: prefixFor(name),
      namespace,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(finalizers !== undefined && { finalizers }),
      ownerReferences: [ownedBy(owner, ownerKind)],
    },
    ...(template?.spec !== undefined && { spec: template.spec }),
  };
}

/** `name-`; the API server cuts it if there is no room for the generated suffix. */
function prefixFor(name: string): string {
  return `${name}-`;
}
