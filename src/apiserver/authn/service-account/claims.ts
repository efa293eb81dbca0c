/** The claims of a service account token, and how they are read from a verified token. */
import { isObject, type JsonObject } from "#api";

export interface Ref {
  readonly name: string;
  readonly uid: string;
}

/** The claim `kubernetes.io`. */
export interface KubernetesClaim {
  readonly namespace: string;
  readonly serviceaccount: Ref;
  readonly pod: Ref | undefined;
  readonly secret: Ref | undefined;
  readonly node: Ref | undefined;
  /** Seconds since 1970: from then on the client should use a new token. */
  readonly warnafter: number | undefined;
}

export function kubernetesClaim(claims: JsonObject): KubernetesClaim {
  const claim = claims["kubernetes.io"];
  const of = isObject(claim) ? claim : {};
  return {
    namespace: text(of.namespace),
    serviceaccount: ref(of.serviceaccount) ?? { name: "", uid: "" },
    pod: ref(of.pod),
    secret: ref(of.secret),
    node: ref(of.node),
    warnafter: typeof of.warnafter === "number" ? of.warnafter : undefined,
  };
}

/** Claims of a token that is kept in a Secret. */
export interface LegacyClaims {
  readonly namespace: string;
  readonly secret: string;
  readonly serviceAccount: Ref;
}

export function legacyClaims(claims: JsonObject): LegacyClaims {
  const of = (name: string) => text(claims[`kubernetes.io/serviceaccount/${name}`]);
  return {
    namespace: of("namespace"),
    secret: of("secret.name"),
    serviceAccount: { name: of("service-account.name"), uid: of("service-account.uid") },
  };
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function ref(value: unknown): Ref | undefined {
  if (!isObject(value as JsonObject)) return undefined;
  const { name, uid } = value as JsonObject;
  return { name: text(name), uid: text(uid) };
}
