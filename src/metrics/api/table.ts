/** Metrics as `kubectl get` shows them: a column for each resource, and the window. */
import { addQuantities, formatQuantity, type JsonObject, parseQuantity, zeroQuantity } from "#api";
import type { NodeMetrics, PodMetrics, ResourceUsage } from "./objects.ts";

const NAMES = ["cpu", "memory"] as const;

/** What a row has besides its cells: `includeObject` of the request. */
export type Included = "None" | "Metadata" | "Object";

export function tableOf(
  items: readonly (NodeMetrics | PodMetrics)[],
  included: Included,
  list?: JsonObject,
): JsonObject {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: list ?? {},
    columnDefinitions: items.length === 0 ? [] : columns(),
    rows: items.map((item) => ({
      cells: [item.metadata.name ?? "", ...NAMES.map((name) => totalOf(item, name)), item.window],
      object: objectOf(item, included),
    })) as unknown as JsonObject[],
  };
}

/** Without rows there are no columns: upstream takes them from the first object. */
function columns(): JsonObject[] {
  const of = (name: string, format: string, description: string) => ({
    name,
    type: "string",
    format,
    description,
    priority: 0,
  });
  return [
    of("Name", "name", "Name of the resource"),
    ...NAMES.map((name) => of(name, "quantity", "")),
    of("Window", "duration", ""),
  ];
}

function totalOf(item: NodeMetrics | PodMetrics, name: keyof ResourceUsage): string {
  const usages = "usage" in item ? [item.usage] : item.containers.map(({ usage }) => usage);
  const total = usages.reduce((sum, usage) => addQuantities(sum, parseQuantity(usage[name])), zeroQuantity);
  return formatQuantity(total);
}

function objectOf(item: NodeMetrics | PodMetrics, included: Included): JsonObject | null {
  if (included === "None") return null;
  if (included === "Object") return item as unknown as JsonObject;
  return partialOf(item);
}

export function partialOf({ metadata }: NodeMetrics | PodMetrics): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: metadata as unknown as JsonObject };
}
