import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { FlowSchema as FlowSchemaObject } from "../types/flowcontrol-v1.ts";
import { validateFlowSchema } from "./flow-schema-validation.ts";

const spec = "io.k8s.api.flowcontrol.v1.FlowSchemaSpec";

export const FlowSchema = defineKind<FlowSchemaObject>("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", {
  generation: "spec",
  defaults: ({ spec }) => {
    if (spec !== undefined) spec.matchingPrecedence ||= 1000;
  },
  validate: validateFlowSchema,
  subresources: { status: { keeps: "nothing" } },
  columns: [
    {
      name: "PriorityLevel",
      type: "string",
      doc: "io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationReference.name",
      cell: ({ spec }) => spec?.priorityLevelConfiguration.name ?? "",
    },
    {
      name: "MatchingPrecedence",
      type: "string",
      doc: `${spec}.matchingPrecedence`,
      cell: ({ spec }) => spec?.matchingPrecedence ?? 0,
    },
    {
      name: "DistinguisherMethod",
      type: "string",
      doc: `${spec}.distinguisherMethod`,
      cell: ({ spec }) => spec?.distinguisherMethod?.type ?? "<none>",
    },
    ageColumn,
    {
      name: "MissingPL",
      type: "string",
      doc: "columns.flowSchema.MissingPL",
      description: "Whether its priority level is missing.",
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?",
    },
  ],
});
