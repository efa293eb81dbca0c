import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Column } from "../machinery/kind.ts";
import type {
  PriorityLevelConfiguration as PriorityLevelObject,
  QueuingConfiguration,
} from "../types/flowcontrol-v1.ts";
import { validatePriorityLevel } from "./priority-level-validation.ts";

const types = "io.k8s.api.flowcontrol.v1";

export const PriorityLevelConfiguration = defineKind<PriorityLevelObject>(
  "flowcontrol.apiserver.k8s.io/v1",
  "PriorityLevelConfiguration",
  {
    generation: "spec",
    defaults: ({ spec }) => {
      if (spec?.exempt !== undefined) {
        spec.exempt.nominalConcurrencyShares ??= 0;
        spec.exempt.lendablePercent ??= 0;
      }
      if (spec?.limited === undefined) return;
      spec.limited.nominalConcurrencyShares ??= 30;
      spec.limited.lendablePercent ??= 0;
      const queuing = spec.limited.limitResponse?.queuing;
      if (queuing === undefined) return;
      queuing.queues ||= 64;
      queuing.handSize ||= 8;
      queuing.queueLengthLimit ||= 50;
    },
    validate: validatePriorityLevel,
    subresources: { status: { keeps: "nothing" } },
    columns: [
      {
        name: "Type",
        type: "string",
        doc: `${types}.PriorityLevelConfigurationSpec.type`,
        cell: ({ spec }) => spec?.type ?? "",
      },
      {
        name: "NominalConcurrencyShares",
        type: "string",
        doc: `${types}.LimitedPriorityLevelConfiguration.nominalConcurrencyShares`,
        cell: ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? "<none>",
      },
      queuingColumn("Queues", "queues"),
      queuingColumn("HandSize", "handSize"),
      queuingColumn("QueueLengthLimit", "queueLengthLimit"),
      ageColumn,
    ],
  },
);

function queuingColumn(name: string, field: keyof QueuingConfiguration): Column<PriorityLevelObject> {
  return {
    name,
    type: "string",
    doc: `${types}.QueuingConfiguration.${field}`,
    cell: ({ spec }) => spec?.limited?.limitResponse?.queuing?.[field] ?? "<none>",
  };
}
