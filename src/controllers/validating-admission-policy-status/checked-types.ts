/**
 * The types that the expressions of a policy are checked against: built-in ones are known here, others are read from
 * the API server's OpenAPI document.
 *
 *     /apis/GROUP/VERSION ──► the kind of a resource ──► /openapi/v3/apis/GROUP/VERSION ──► its schema ──► its type
 *
 * 1. Types that are not found are not checked: a policy may be created before its kinds.
 */
import {
  type admissionregistration,
  apiVersionOf,
  builtIn,
  type CheckedKind,
  cel,
  isObject,
  isStatusError,
  type Json,
  type JsonObject,
  type Kind,
  parseJson,
  type ResourceToCheck,
  resourcesToCheck,
  typeSchema,
} from "#api";

type Policy = admissionregistration.ValidatingAdmissionPolicy;
/** Gets a path of the API server. Throws its error. */
type Read = (path: string) => Promise<string>;

export interface CheckedTypes {
  readonly kinds: readonly CheckedKind[];
  readonly params: cel.types.Type | undefined;
}

export async function checkedTypes(policy: Policy, read: Read): Promise<CheckedTypes> {
  const kinds: CheckedKind[] = [];
  for (const resource of resourcesToCheck(policy)) kinds.push(...(await kindsOf(resource, read)));
  const { apiVersion = "", kind = "" } = policy.spec?.paramKind ?? {};
  return { kinds, params: kind === "" ? undefined : await typeNamed(apiVersion, kind, read) };
}

async function kindsOf({ group, version, resource }: ResourceToCheck, read: Read): Promise<readonly CheckedKind[]> {
  const known = builtIn.filter(
    (kind) => kind.version === version && kind.names.plural === resource && (group === "" || kind.group === group),
  );
  if (known.length > 0) return known.map((kind) => ({ ...namesOf(kind), type: builtInType(kind) }));
  if (group === "") return [];
  const list = await document(`/apis/${group}/${version}`, read);
  const found = entries(list?.resources).find(({ name }) => name === resource);
  if (typeof found?.kind !== "string") return [];
  const type = await typeNamed(`${group}/${version}`, found.kind, read);
  return type === undefined ? [] : [{ group, version, kind: found.kind, type }];
}

async function typeNamed(apiVersion: string, kind: string, read: Read): Promise<cel.types.Type | undefined> {
  const known = builtIn.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (known !== undefined) return builtInType(known);
  const [group, version] = apiVersion.split("/");
  if (version === undefined) return undefined;
  const openApi = await document(`/openapi/v3/apis/${apiVersion}`, read);
  const components = isObject(openApi?.components ?? null) ? (openApi?.components as JsonObject) : {};
  const schemas = Object.values(isObject(components.schemas ?? null) ? (components.schemas as JsonObject) : {});
  const schema = schemas.find(
    (each): each is JsonObject => isObject(each) && describes(each, group ?? "", version, kind),
  );
  return schema && customType(schema, kind);
}

function describes(schema: JsonObject, group: string, version: string, kind: string): boolean {
  return entries(schema["x-kubernetes-group-version-kind"]).some(
    (each) => each.group === group && each.version === version && each.kind === kind,
  );
}

function builtInType(kind: Kind): cel.types.Type {
  return cel.typeFromFacts(kind.schema, kind.kind);
}

/** All objects have the same metadata; schemas only refer to it. */
function customType(schema: JsonObject, kind: string): cel.types.Type | undefined {
  const type = cel.typeFromSchema(schema, { name: kind, resource: true });
  if (type?.kind !== "object") return type;
  const metadata = cel.typeFromFacts(typeSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"), "ObjectMeta");
  return cel.types.object(type.name, new Map([...type.fields, ["metadata", { json: "metadata", type: metadata }]]));
}

/** Undefined if there is none. */
async function document(path: string, read: Read): Promise<JsonObject | undefined> {
  try {
    const value = parseJson(await read(path));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (isStatusError(error) && error.code === 404) return undefined;
    throw error;
  }
}

function entries(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter((each): each is JsonObject => isObject(each)) : [];
}

function namesOf({ group, version, kind }: Kind) {
  return { group, version, kind };
}
