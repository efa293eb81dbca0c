/**
 * What one group and version contributes to the documents: its operations, and the types that these refer to.
 *
 * 1. A custom kind has the schema of its definition, with the fields that every object has.
 */
import { isObject, type Json, type JsonObject, type Kind } from "#api";
import type { ServedVersion } from "../discovery/index.ts";
import type { Descriptions } from "./descriptions.ts";
import { kindOperations } from "./kind-operations.ts";
import { type GroupVersion, type KindsOfType, kindsOfTypes } from "./known-versions.ts";
import { customTypeName } from "./names.ts";
import type { GroupVersionKind, Operation, PathOperations } from "./operation.ts";
import type { Parameters } from "./parameters.ts";
import { resourcesOperations } from "./server-operations.ts";
import { type OpenApiVersion, REF_PREFIX, type RenderedType } from "./type-schema.ts";
import { reached, type TypeText, type TypeTexts, typeText } from "./type-texts.ts";

export interface Content {
  /** Sorted by path. */
  readonly paths: readonly PathOperations[];
  /** Sorted by name. */
  types(texts: TypeTexts, shared: readonly GroupVersion[]): Map<string, string>;
}

export class Contents {
  readonly #parameters: Parameters;
  readonly #kindsOf: KindsOfType = kindsOfTypes();

  constructor(parameters: Parameters) {
    this.#parameters = parameters;
  }

  ofServer(operations: PathOperations): Content {
    return {
      paths: [operations],
      types: (texts, shared) => this.#types([operations], texts, shared, () => undefined),
    };
  }

  ofVersion(served: ServedVersion): Content {
    const { group, version, kinds, custom = false } = served;
    const paths = kinds.flatMap((kind) => {
      const typeName = custom ? customTypeName(kind) : (kind.schema.goType ?? customTypeName(kind));
      const listKind = kind.listKind ?? `${kind.kind}List`;
      const listTypeName = typeName.slice(0, typeName.lastIndexOf(".") + 1) + listKind;
      return kindOperations(kind, { typeName, listTypeName, custom }, this.#parameters);
    });
    // Custom APIs have no discovery operations.
    if (!custom) paths.push(resourcesOperations(group, version));
    paths.sort((a, b) => (a.path < b.path ? -1 : 1));
    return {
      paths,
      types: (texts, shared) => {
        const own = custom ? customTypes(served, texts) : new Map<string, CustomType>();
        return this.#types(paths, texts, shared, (name) => own.get(name));
      },
    };
  }

  #types(
    paths: readonly PathOperations[],
    texts: TypeTexts,
    shared: readonly GroupVersion[],
    custom: (typeName: string) => CustomType | undefined,
  ): Map<string, string> {
    const roots = new Set(paths.flatMap(({ operations }) => operations.flatMap(typesOf)));
    const found = reached(roots, (name) => custom(name)?.type ?? texts.get(name));
    const entries = [...found].map(([name, type]): [string, string] => {
      const own = custom(name);
      return [name, type.text(own === undefined ? this.#kindsOf(name, shared) : [own.gvk])];
    });
    return new Map(entries);
  }
}

interface CustomType {
  readonly type: TypeText;
  readonly gvk: GroupVersionKind;
}

function customTypes({ kinds, schemas }: ServedVersion, texts: TypeTexts): Map<string, CustomType> {
  const { version, descriptions } = texts;
  return new Map(
    kinds.flatMap((kind): [string, CustomType][] => {
      const list = { ...kind, kind: kind.listKind ?? `${kind.kind}List` };
      const type = renderCustomType(schemas?.get(kind.kind), version, descriptions);
      return [
        [customTypeName(kind), { type: typeText(type), gvk: kind }],
        [customTypeName(list), { type: typeText(renderCustomList(kind, version, descriptions)), gvk: list }],
      ];
    }),
  );
}

function typesOf({ body, responses }: Operation): string[] {
  const answers = Object.values(responses).flatMap((content) => (content === "text" ? [] : [content.typeName]));
  return body === undefined ? answers : [...answers, body.typeName];
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const TYPE_META = "io.k8s.api.core.v1.ConfigMap";

/** `definition`: the openAPIV3Schema of the version; without one, any object. */
function renderCustomType(
  definition: JsonObject | undefined,
  version: OpenApiVersion,
  descriptions: Descriptions,
): RenderedType {
  const { properties, ...rest } = definition ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = {
    ...rest,
    properties: { ...(isObject(properties) ? properties : {}), ...objectFields("ObjectMeta", version, descriptions) },
  };
  return { schema: version === "v2" ? asVersion2(schema) : schema, refs: new Set([`${META}.ObjectMeta`]) };
}

function renderCustomList(kind: Kind, version: OpenApiVersion, descriptions: Descriptions): RenderedType {
  const item = customTypeName(kind);
  const schema = {
    description: `${kind.listKind ?? `${kind.kind}List`} is a list of ${kind.kind}`,
    type: "object",
    required: ["items"],
    properties: {
      ...objectFields("ListMeta", version, descriptions),
      items: { type: "array", items: { $ref: REF_PREFIX[version] + item } },
    },
  };
  return { schema, refs: new Set([`${META}.ListMeta`, item]) };
}

function objectFields(metaType: string, version: OpenApiVersion, descriptions: Descriptions): JsonObject {
  const described = (description: string | undefined) => (description === undefined ? {} : { description });
  const $ref = `${REF_PREFIX[version]}${META}.${metaType}`;
  const about = described(descriptions.type(`${META}.${metaType}`));
  return {
    apiVersion: { ...described(descriptions.type(TYPE_META, "apiVersion")), type: "string" },
    kind: { ...described(descriptions.type(TYPE_META, "kind")), type: "string" },
    metadata: version === "v2" ? { ...about, $ref } : { ...about, allOf: [{ $ref }] },
  };
}

/** Keywords that version 2 lacks. A schema that depends on one is widened to any value rather than stated wrongly. */
const NOT_IN_VERSION_2 = new Set(["nullable", "oneOf", "anyOf", "allOf", "not", "default", "x-kubernetes-validations"]);

function asVersion2(schema: JsonObject): JsonObject {
  if (schema["x-kubernetes-int-or-string"] === true || schema.nullable === true) return open(schema);
  const kept = Object.entries(schema).filter(([key]) => !NOT_IN_VERSION_2.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, inVersion2(key, value)]));
}

function inVersion2(key: string, value: Json): Json {
  if (key === "properties" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, schema]) => [name, isObject(schema) ? asVersion2(schema) : schema]),
    );
  }
  return (key === "items" || key === "additionalProperties") && isObject(value) ? asVersion2(value) : value;
}

/** Any value: without a type. */
function open(schema: JsonObject): JsonObject {
  const { description } = schema;
  const extensions = Object.entries(schema).filter(([key]) => key.startsWith("x-") && !NOT_IN_VERSION_2.has(key));
  return { ...(description === undefined ? {} : { description }), ...Object.fromEntries(extensions) };
}
