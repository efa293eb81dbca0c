import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { ServiceAccount as ServiceAccountObject } from "../types/core-v1.ts";

/** Only its metadata is validated. */
export const ServiceAccount = defineKind<ServiceAccountObject>("v1", "ServiceAccount", {
  create: { prepare: keepSecretNames },
  update: { prepare: keepSecretNames },
  columns: [ageColumn],
});

/** Secrets are of the account's own namespace: references to them have only a name. */
function keepSecretNames(draft: Draft<ServiceAccountObject>): void {
  if (draft.secrets === undefined) return;
  draft.secrets = draft.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}
