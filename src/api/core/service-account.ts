import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { ServiceAccount as ServiceAccountObject } from "../types/core-v1.ts";

/** Only its metadata is validated. */
export const ServiceAccount = defineKind<ServiceAccountObject>("v1", "ServiceAccount", {
  columns: [ageColumn],
});
