import { labelsText } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import { at } from "../../machinery/errors/field-error.ts";
import type { Kind } from "../../machinery/kind.ts";
import type { PodTemplate as PodTemplateObject } from "../../types/core-v1.ts";
import {
  defaultPodTemplateSpec,
  podTemplateOptions,
  podTemplateWarnings,
  validatePodTemplateSpec,
} from "../pod/index.ts";

export const PodTemplate: Kind<PodTemplateObject> = defineKind("v1", "PodTemplate", {
  defaults: (draft) => {
    draft.template ??= {};
    defaultPodTemplateSpec(draft.template);
  },
  create: { validate: ({ template }, path) => validatePodTemplateSpec(template, path.child("template")) },
  update: {
    validate: ({ template }, old, path) =>
      validatePodTemplateSpec(template, path.child("template"), podTemplateOptions(template, old.template)),
  },
  generation: "spec",
  columns: [
    {
      name: "Containers",
      type: "string",
      doc: "columns.podTemplate.Containers",
      description: "The template's containers.",
      cell: ({ template }) =>
        containersOf(template)
          .map(({ name }) => name)
          .join(","),
    },
    {
      name: "Images",
      type: "string",
      doc: "columns.podTemplate.Images",
      description: "The images of the template's containers.",
      cell: ({ template }) =>
        containersOf(template)
          .map(({ image = "" }) => image)
          .join(","),
    },
    {
      name: "Pod Labels",
      type: "string",
      doc: "columns.podTemplate.Pod Labels",
      description: "Labels that Pods of the template get.",
      cell: ({ template }) => labelsText(template?.metadata?.labels),
    },
  ],
  warnings: ({ template }) => podTemplateWarnings(template, at("template")),
});

function containersOf(template: PodTemplateObject["template"]) {
  return template?.spec?.containers ?? [];
}
