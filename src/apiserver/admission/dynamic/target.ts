/**
 * The resource and kind of a request, in one of the versions that serve its objects.
 *
 *     PUT autoscaling/v1 hpa/web ──► autoscaling/v1 HorizontalPodAutoscaler   that of the request
 *                                    autoscaling/v2 HorizontalPodAutoscaler   an equivalent: the same objects
 */
import { type Kind, type ObjectSchema, typeSchema } from "#api";
import type { Resource } from "../../rest/resource.ts";
import type { Resources } from "../../rest/resources.ts";
import type { AdmissionAttributes } from "../../rest/server-context.ts";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Target {
  readonly resource: Resource;
  readonly subresource: string;
  /** The kind of the object that is sent. For a subresource it may be another than the resource's, such as Scale. */
  readonly kind: GroupVersionKind;
  /** Undefined if the object is of another kind, which has no rules here. */
  readonly own: Kind | undefined;
  readonly schema: ObjectSchema;
}

/** Undefined if the resource has no such subresource. */
export function targetAt(resource: Resource, subresource: string): Target | undefined {
  const { kind: own } = resource;
  if (subresource === "") return ownTarget(resource, subresource);
  const served = own.served.find(({ name }) => name === subresource);
  if (served === undefined) return undefined;
  if (served.kind === own.kind && served.group === own.group) return ownTarget(resource, subresource);
  const { group, version, kind, typeName } = served;
  return {
    resource,
    subresource,
    kind: { group, version, kind },
    own: undefined,
    get schema() {
      return typeSchema(typeName);
    },
  };
}

function ownTarget(resource: Resource, subresource: string): Target {
  const { group, version, kind, schema } = resource.kind;
  return { resource, subresource, kind: { group, version, kind }, own: resource.kind, schema };
}

/** The target that the request names. */
export function targetOf({ resource, subresource }: Pick<AdmissionAttributes, "resource" | "subresource">): Target {
  return targetAt(resource, subresource) ?? ownTarget(resource, subresource);
}

/** Other versions, and other groups, that serve the same objects. */
export function equivalentsOf({ resource, subresource }: Target, resources: Resources): readonly Target[] {
  const found: Target[] = [];
  for (const other of resources.all()) {
    if (other === resource || other.cache !== resource.cache) continue;
    const target = targetAt(other, subresource);
    if (target !== undefined) found.push(target);
  }
  return found;
}

/** A Namespace belongs to the namespace of its own name. */
export function namespaceOf({ resource, namespace, name }: AdmissionAttributes): string {
  return namespace === "" && isNamespaces(resource) ? name : namespace;
}

export function isNamespaces({ kind }: Resource): boolean {
  return kind.group === "" && kind.names.plural === "namespaces";
}

/** The form of messages: `apps/v1, Kind=Deployment`. */
export function kindText({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}
