import { ageColumn } from "../columns.ts";
import { defineKind } from "../define-kind.ts";
import type { ServiceAccount as ServiceAccountObject } from "../types/core-v1.ts";

/** Nothing of it but its metadata is checked. */
export const ServiceAccount = defineKind<ServiceAccountObject>("v1", "ServiceAccount", {
  columns: [ageColumn],
});
