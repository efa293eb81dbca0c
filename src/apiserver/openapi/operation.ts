/** The operations of a path, in a form from which both versions of OpenAPI are rendered. */
import { table } from "#base";

export type Method = "get" | "put" | "post" | "delete" | "options" | "head" | "patch";

/** The order in which documents show them. */
export const METHODS: readonly Method[] = ["get", "put", "post", "delete", "options", "head", "patch"];

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly type: "string" | "integer" | "boolean";
  readonly description?: string;
}

/** A type by its full name, or plain text. */
export type Content = { readonly typeName: string } | "text";

export interface Operation {
  readonly method: Method;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  /** Sorted by name, those of the path included. */
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly typeName: string; readonly required: boolean };
  /** Media types of the request; undefined where documents state none. */
  readonly consumes?: readonly string[];
  readonly produces: readonly string[];
  /** Besides 401, which all have. */
  readonly responses: Readonly<Record<string, Content>>;
  readonly action?: string;
  readonly gvk?: GroupVersionKind;
}

export interface PathOperations {
  readonly path: string;
  readonly operations: readonly Operation[];
}

export const REASONS: Readonly<Record<string, string>> = table({
  200: "OK",
  201: "Created",
  202: "Accepted",
  401: "Unauthorized",
});

/** Parameters that all operations of a path share; documents list them once, for the path. */
export function sharedParameters({ operations }: PathOperations): readonly Parameter[] {
  const [first, ...rest] = operations;
  if (first === undefined) return [];
  return first.parameters.filter((one) => rest.every(({ parameters }) => parameters.some((it) => isSame(one, it))));
}

export function isSame(a: Parameter, b: Parameter): boolean {
  return a.name === b.name && a.in === b.in && a.type === b.type && a.description === b.description;
}

/** By name, those of the path before those of the query. */
export function sortParameters(parameters: readonly Parameter[]): Parameter[] {
  const key = (it: Parameter) => `${it.name} ${it.in}`;
  return [...parameters].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
