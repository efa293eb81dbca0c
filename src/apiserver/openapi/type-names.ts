/** Types that have a name in OpenAPI but not in the schemas, and extensions that the facts lack. */
import type { AnySchema, JsonObject, ScalarType } from "#api";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";
const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
const RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension";

const SCALAR_NAMES: Partial<Readonly<Record<ScalarType, string>>> = {
  quantity: QUANTITY,
  intOrString: INT_OR_STRING,
  time: `${META}.Time`,
  microTime: `${META}.MicroTime`,
  duration: `${META}.Duration`,
};
const EITHER_NAMES = {
  boolean: `${APIEXTENSIONS}.JSONSchemaPropsOrBool`,
  objects: `${APIEXTENSIONS}.JSONSchemaPropsOrArray`,
  strings: `${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`,
} as const;

export function scalarTypeName(type: ScalarType): string | undefined {
  return SCALAR_NAMES[type];
}

/** The name of "any JSON" depends on the type that holds it; undefined where it has none. */
export function anyTypeName({ either, number }: AnySchema, holder: string, field: string): string | undefined {
  if (either !== undefined) return EITHER_NAMES[either.other.form];
  if (number === undefined) return undefined;
  if (holder.startsWith(APIEXTENSIONS)) return `${APIEXTENSIONS}.JSON`;
  return field === "fieldsV1" ? `${META}.FieldsV1` : RAW_EXTENSION;
}

export interface NamedForm {
  readonly v3: JsonObject;
  readonly v2: JsonObject;
}

const both = (form: JsonObject): NamedForm => ({ v3: form, v2: form });

export const NAMED_FORMS: ReadonlyMap<string, NamedForm> = new Map([
  [QUANTITY, { v3: { oneOf: [{ type: "string" }, { type: "number" }] }, v2: { type: "string" } }],
  [
    INT_OR_STRING,
    {
      v3: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
      v2: { type: "string", format: "int-or-string" },
    },
  ],
  [`${META}.Time`, both({ type: "string", format: "date-time" })],
  [`${META}.MicroTime`, both({ type: "string", format: "date-time" })],
  [`${META}.Duration`, both({ type: "string" })],
  [`${META}.FieldsV1`, both({ type: "object" })],
  [RAW_EXTENSION, both({ type: "object" })],
  [`${APIEXTENSIONS}.JSON`, both({})],
  ...Object.values(EITHER_NAMES).map((name) => [name, both({})] as const),
]);

const union = (discriminator: string | undefined, ...fields: readonly string[]): JsonObject => ({
  "x-kubernetes-unions": [
    {
      ...(discriminator === undefined ? {} : { discriminator }),
      "fields-to-discriminateBy": Object.fromEntries(
        fields.map((field) => [field, field.charAt(0).toUpperCase() + field.slice(1)]),
      ),
    },
  ],
});

/** Extensions that only OpenAPI knows, by type or by type and field. */
export const EXTENSIONS: ReadonlyMap<string, JsonObject> = new Map([
  ["io.k8s.api.core.v1.AppArmorProfile", union("type", "localhostProfile")],
  ["io.k8s.api.core.v1.PodSchedulingGroup", union(undefined, "podGroupName")],
  ["io.k8s.api.core.v1.SeccompProfile", union("type", "localhostProfile")],
  ["io.k8s.api.flowcontrol.v1.LimitResponse", union("type", "queuing")],
  ["io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationSpec", union("type", "exempt", "limited")],
  ["io.k8s.api.flowcontrol.v1.Subject", union("kind", "group", "serviceAccount", "user")],
  ["io.k8s.api.core.v1.PersistentVolumeClaimStatus.allocatedResourceStatuses", { "x-kubernetes-map-type": "granular" }],
  [
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIServiceSpec.caBundle",
    { "x-kubernetes-list-type": "atomic" },
  ],
]);
