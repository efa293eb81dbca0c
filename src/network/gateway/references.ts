/**
 * References of routes and listeners: whether the target exists, and whether they may refer to it. Pure.
 *
 * A reference into another Namespace needs a ReferenceGrant there.
 */
import type { BackendReference, ObjectReference, ReferenceGrant } from "./kinds.ts";
import type { RouteKind } from "./route-kinds.ts";

export const GATEWAY_GROUP = "gateway.networking.k8s.io";

export interface ReferenceSources {
  readonly grants: readonly ReferenceGrant[];
  /** `key`: `namespace/name`. */
  has(kind: "Service" | "Secret", key: string): boolean;
}

/** The object that contains the reference. */
export interface Referrer {
  readonly kind: "Gateway" | RouteKind;
  readonly namespace: string;
}

export type Resolved =
  | { readonly key: string }
  | { readonly reason: string; readonly message: string; readonly key?: undefined };

export function resolveBackend(from: Referrer, reference: BackendReference, sources: ReferenceSources): Resolved {
  const found = resolve(from, reference, "Service", "BackendNotFound", sources);
  if (found.key === undefined || reference.port !== undefined) return found;
  return { reason: "UnsupportedValue", message: `${found.key}: a Service needs a port` };
}

export function resolveCertificate(from: Referrer, reference: ObjectReference, sources: ReferenceSources): Resolved {
  const found = resolve(from, reference, "Secret", "InvalidCertificateRef", sources);
  return found.key === undefined && found.reason === "InvalidKind"
    ? { ...found, reason: "InvalidCertificateRef" }
    : found;
}

function resolve(
  from: Referrer,
  reference: ObjectReference,
  kind: "Service" | "Secret",
  absent: string,
  sources: ReferenceSources,
): Resolved {
  const { group = "", kind: named = kind, name, namespace = from.namespace } = reference;
  if (group !== "" || named !== kind)
    return { reason: "InvalidKind", message: `${[named, group].filter(Boolean).join(".")} is not supported` };
  const key = `${namespace}/${name}`;
  if (namespace !== from.namespace && !isGranted(from, kind, { name, namespace }, sources.grants))
    return { reason: "RefNotPermitted", message: `no ReferenceGrant allows the reference to ${kind} ${key}` };
  if (!sources.has(kind, key)) return { reason: absent, message: `${kind} ${key} does not exist` };
  return { key };
}

function isGranted(
  from: Referrer,
  kind: string,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  grants: readonly ReferenceGrant[],
): boolean {
  return grants.some(
    ({ metadata, spec }) =>
      metadata.namespace === namespace &&
      spec?.from?.some(
        (each) => each.group === GATEWAY_GROUP && each.kind === from.kind && each.namespace === from.namespace,
      ) === true &&
      spec.to?.some(
        (each) => each.group === "" && each.kind === kind && (each.name === undefined || each.name === name),
      ) === true,
  );
}
