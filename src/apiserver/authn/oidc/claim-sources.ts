/**
 * Reads `_claim_names` and `_claim_sources` of a token (OpenID Connect Core 1.0, section 5.6.2), with Kubernetes' words
 * for what is malformed.
 */
import { isObject, type Json, type JsonObject } from "#api";

export interface ClaimSource {
  readonly endpoint: string;
  /** Empty: the request carries no credentials. */
  readonly accessToken: string;
}

/** Where the claim is to be fetched, nothing if it is not distributed, or why that cannot be told. */
export function claimSource(claims: JsonObject, claim: string): ClaimSource | undefined | { readonly fault: string } {
  if (Object.hasOwn(claims, claim) || !Object.hasOwn(claims, "_claim_names")) return undefined;
  const { _claim_names: names = null, _claim_sources: sources } = claims;
  const namesFault = stringsFault(names, "map[string]string");
  if (namesFault !== undefined) return { fault: `oidc: error parsing distributed claim names: ${namesFault}` };
  if (sources === undefined) return { fault: "oidc: no claim sources" };
  const sourcesFault = endpointsFault(sources);
  if (sourcesFault !== undefined) return { fault: `oidc: could not parse claim sources: ${sourcesFault}` };
  const name = own(names, claim);
  if (name === undefined) return undefined;
  const source = own(sources, String(name ?? ""));
  if (source === undefined) {
    return { fault: `id token _claim_names contained a source ${name ?? ""} missing in _claims_sources` };
  }
  const endpoint = own(source, "endpoint") ?? "";
  // Without an endpoint it may be an aggregated claim, which Kubernetes does not read.
  return endpoint === ""
    ? undefined
    : { endpoint: String(endpoint), accessToken: String(own(source, "access_token") ?? "") };
}

function own(value: Json, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function stringsFault(value: Json, type: string): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return mismatch(value, `value of type ${type}`);
  const wrong = Object.values(value).find((each) => each !== null && typeof each !== "string");
  return wrong === undefined ? undefined : mismatch(wrong, "value of type string");
}

function endpointsFault(value: Json): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return mismatch(value, "value of type map[string]oidc.endpoint");
  for (const source of Object.values(value)) {
    if (source === null || source === undefined) continue;
    if (!isObject(source)) return mismatch(source, "value of type oidc.endpoint");
    for (const name of ["endpoint", "access_token", "JWT"]) {
      const text = own(source, name) ?? null;
      if (text !== null && typeof text !== "string") {
        return mismatch(text, `struct field endpoint.${name} of type string`);
      }
    }
  }
  return undefined;
}

function mismatch(value: Json, into: string): string {
  const kinds = { boolean: "bool", string: "string", number: "number" } as const;
  const kind = Array.isArray(value)
    ? "array"
    : (typeof value) in kinds
      ? kinds[typeof value as keyof typeof kinds]
      : "object";
  return `json: cannot unmarshal ${kind} into Go ${into}`;
}
