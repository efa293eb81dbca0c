/** Tables: what `kubectl get` shows, made by the columns of a kind. */
import { badRequest, type Column, field, type Json, type JsonObject, type Kind, type KubeObject } from "#api";
import { describeColumn } from "./column-docs.ts";
import { partialObject } from "./partial.ts";

const NAME_DOC = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.name";
const CREATED_DOC = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.creationTimestamp";

const NAME_COLUMN: Column<KubeObject> = {
  name: "Name",
  type: "string",
  format: "name",
  doc: NAME_DOC,
  cell: ({ metadata }) => metadata.name ?? "",
};

/** Kinds without columns of their own. */
const DEFAULT_COLUMNS: readonly Column<KubeObject>[] = [
  {
    name: "Created At",
    type: "date",
    doc: CREATED_DOC,
    cell: ({ metadata }) => metadata.creationTimestamp ?? "<unknown>",
  },
];

export function tableOf(
  kind: Kind,
  objects: readonly KubeObject[],
  metadata: object,
  version: string,
  query: URLSearchParams,
  now: number,
): JsonObject {
  const include = query.get("includeObject") ?? "";
  if (!["", "None", "Metadata", "Object"].includes(include)) {
    const fault = field.invalid("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty");
    throw badRequest(`Unable to convert to Table as requested: ${field.fieldErrorText(fault)}`);
  }
  const columns = columnsOf(kind);
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: columnDefinitions(columns),
    rows: objects.map((object) => row(kind, object, include, version, now)),
  } as unknown as JsonObject;
}

/** Name comes first, unless the kind has a column of that name itself. */
export function columnsOf({ columns = DEFAULT_COLUMNS }: Kind): readonly Column<KubeObject>[] {
  return columns.some(({ name }) => name === "Name") ? columns : [NAME_COLUMN, ...columns];
}

export function columnDefinitions(columns: readonly Column<KubeObject>[]): readonly JsonObject[] {
  return columns.map(({ name, type, format = "", priority = 0, doc, description }) => ({
    name,
    type,
    format,
    description: (doc && describeColumn(doc)) ?? description ?? "",
    priority,
  }));
}

export function row(kind: Kind, object: KubeObject, include: string, version: string, now: number): JsonObject {
  const cells: Json[] = columnsOf(kind).map((column) => column.cell(object, now));
  const conditions = kind.rowConditions?.(object) ?? [];
  const part = conditions.length === 0 ? { cells } : { cells, conditions };
  if (include === "None") return { ...part, object: null } as unknown as JsonObject;
  const shown = include === "Object" ? object : partialObject(kind, object, version);
  return { ...part, object: shown } as unknown as JsonObject;
}
