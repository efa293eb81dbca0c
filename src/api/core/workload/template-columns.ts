/** The columns of `-o wide` that describe a workload's template. */
import type { Column } from "../../machinery/kind.ts";
import type { LabelSelector } from "../../machinery/names/labels.ts";
import type { KubeObject } from "../../machinery/schema/object.ts";
import type { PodTemplateSpec } from "../../types/core-v1.ts";
import { readSelector } from "./selector.ts";

export function templateColumns<T extends KubeObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
): readonly Column<T>[] {
  const containers = (object: T) => templateOf(object)?.spec?.containers ?? [];
  return [
    {
      name: "Containers",
      type: "string",
      priority: 1,
      doc: "columns.replicaSet.Containers",
      description: "The template's containers.",
      cell: (object) =>
        containers(object)
          .map(({ name }) => name)
          .join(","),
    },
    {
      name: "Images",
      type: "string",
      priority: 1,
      doc: "columns.replicaSet.Images",
      description: "The images of the template's containers.",
      cell: (object) =>
        containers(object)
          .map(({ image }) => image ?? "")
          .join(","),
    },
  ];
}

/** `doc` names the selector's field. */
export function selectorColumn<T extends KubeObject>(
  doc: string,
  selectorOf: (object: T) => LabelSelector | null | undefined,
): Column<T> {
  return { name: "Selector", type: "string", priority: 1, doc, cell: (object) => selectorText(selectorOf(object)) };
}

/** As kubectl prints it: a missing selector is `<none>`, an invalid one `<error>`. */
export function selectorText(selector: LabelSelector | null | undefined): string {
  const matcher = readSelector(selector);
  if (matcher === undefined) return "<error>";
  return matcher.nothing ? "<none>" : matcher.toString() || "<none>";
}
