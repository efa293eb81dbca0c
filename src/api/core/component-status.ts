import { defineKind } from "../definition/define-kind.ts";
import type { ComponentCondition, ComponentStatus as ComponentStatusObject } from "../types/core-v1.ts";

/** Never stored: the server checks its components on each read. */
export const ComponentStatus = defineKind<ComponentStatusObject>("v1", "ComponentStatus", {
  deprecated: "v1 ComponentStatus is deprecated in v1.19+",
  columns: [
    {
      name: "Status",
      type: "string",
      description: "Status of the component conditions",
      cell: (one) => health(healthy(one)),
    },
    {
      name: "Message",
      type: "string",
      description: "Message of the component conditions",
      cell: (one) => healthy(one)?.message ?? "",
    },
    {
      name: "Error",
      type: "string",
      description: "Error of the component conditions",
      cell: (one) => healthy(one)?.error ?? "",
    },
  ],
});

function healthy({ conditions = [] }: ComponentStatusObject): ComponentCondition | undefined {
  return conditions.find(({ type }) => type === "Healthy");
}

function health(condition: ComponentCondition | undefined): string {
  if (condition === undefined) return "Unknown";
  return condition.status === "True" ? "Healthy" : "Unhealthy";
}
