import { ageColumn } from "../../definition/columns.ts";
import { defineKind } from "../../definition/define-kind.ts";
import type { ResourceQuota as ResourceQuotaObject } from "../../types/core-v1.ts";
import { validateQuota, validateQuotaStatus, validateQuotaUpdate } from "./resource-quota-validation.ts";

export const ResourceQuota = defineKind<ResourceQuotaObject>("v1", "ResourceQuota", {
  validate: validateQuota,
  update: { validate: validateQuotaUpdate },
  subresources: { status: { validate: validateQuotaStatus } },
  columns: [
    {
      name: "Request",
      type: "string",
      doc: "columns.resourceQuota.Request",
      description: "What is used and allowed of everything but limits.",
      cell: (quota) => used(quota, (name) => !name.startsWith("limits")),
    },
    {
      name: "Limit",
      type: "string",
      doc: "columns.resourceQuota.Limit",
      description: "What is used and allowed of limits.",
      cell: (quota) => used(quota, (name) => name.startsWith("limits")),
    },
    ageColumn,
  ],
});

function used({ status }: ResourceQuotaObject, wanted: (name: string) => boolean): string {
  const names = Object.keys(status?.hard ?? {})
    .filter(wanted)
    .sort();
  return names.map((name) => `${name}: ${status?.used?.[name] ?? "0"}/${status?.hard?.[name] ?? "0"}`).join(", ");
}
