/**
 * The parameters of requests. Query parameters are the fields of the options type of each action, so they follow from
 * the facts.
 */
import { type Schema, typeSchema } from "#api";
import type { Descriptions } from "./descriptions.ts";
import type { Parameter } from "./operation.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** They turn a list into a watch; a deletion has no watch. */
const ONLY_WATCH = new Set(["watch", "allowWatchBookmarks"]);

export type Action = "list" | "get" | "post" | "put" | "patch" | "delete" | "deletecollection";

/** For each action its options, and a method of the Node client whose documentation describes them. */
const OPTIONS: Readonly<Record<Action, { readonly types: readonly string[]; readonly like: string }>> = {
  get: { types: [], like: "readNamespacedConfigMap" },
  list: { types: ["ListOptions"], like: "listNamespacedConfigMap" },
  post: { types: ["CreateOptions"], like: "createNamespacedConfigMap" },
  put: { types: ["UpdateOptions"], like: "replaceNamespacedConfigMap" },
  patch: { types: ["PatchOptions"], like: "patchNamespacedConfigMap" },
  delete: { types: ["DeleteOptions"], like: "deleteNamespacedConfigMap" },
  deletecollection: { types: ["ListOptions", "DeleteOptions"], like: "deleteCollectionNamespacedConfigMap" },
};

export class Parameters {
  readonly #descriptions: Descriptions;
  readonly #known = new Map<string, readonly Parameter[]>();
  #namespace: Parameter | undefined;

  constructor(descriptions: Descriptions) {
    this.#descriptions = descriptions;
  }

  /** In the query of an action on objects. */
  ofAction(action: Action): readonly Parameter[] {
    return this.#once(action, () => {
      const { types, like } = OPTIONS[action];
      const fields = types
        .flatMap((type) => this.#fields(`${META}.${type}`, like))
        .filter(({ name }) => action !== "deletecollection" || !ONLY_WATCH.has(name));
      return [...fields, this.#described("pretty", "query", "string", like)];
    });
  }

  /** In the query of a subresource with options of its own, such as PodLogOptions. */
  ofOptions(typeName: string, like: string): readonly Parameter[] {
    return this.#once(`${typeName} ${like}`, () => this.#fields(typeName, like));
  }

  get namespace(): Parameter {
    this.#namespace ??= this.#described("namespace", "path", "string", OPTIONS.get.like);
    return this.#namespace;
  }

  nameOf(kind: string): Parameter {
    return { name: "name", in: "path", type: "string", description: `name of the ${kind}` };
  }

  get rest(): Parameter {
    return { name: "path", in: "path", type: "string", description: "path to the resource" };
  }

  #fields(typeName: string, like: string): Parameter[] {
    return [...typeSchema(typeName).fields.values()].flatMap(({ name, number, schema }) => {
      const type = queryType(schema);
      // Number 0: kind and apiVersion, which are not query parameters.
      return type === undefined || number === 0 ? [] : [this.#described(name, "query", type, like)];
    });
  }

  #described(name: string, place: "path" | "query", type: Parameter["type"], like: string): Parameter {
    const description = this.#descriptions.parameter(like, name);
    return { name, in: place, type, ...(description === undefined ? {} : { description }) };
  }

  #once(key: string, make: () => readonly Parameter[]): readonly Parameter[] {
    const found = this.#known.get(key) ?? make();
    this.#known.set(key, found);
    return found;
  }
}

/** Undefined: not expressible in a query. */
function queryType(schema: Schema): Parameter["type"] | undefined {
  switch (schema.type) {
    case "string":
    case "boolean":
      return schema.type;
    case "int32":
    case "int64":
      return "integer";
    case "list":
      return queryType(schema.items);
    default:
      return undefined;
  }
}
