/** A kind that users define. How it is compiled into a Kind and what it may say is told elsewhere. */
import { defineKind } from "../define-kind.ts";
import type { Draft } from "../machinery/object.ts";
import type { CustomResourceDefinition as DefinitionObject } from "../types/apiextensions-v1.ts";

export const CustomResourceDefinition = defineKind<DefinitionObject>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  {
    generation: "spec",
    defaults: ({ spec }) => {
      if (spec.names.kind !== "") {
        spec.names.singular ||= spec.names.kind.toLowerCase();
        spec.names.listKind ||= `${spec.names.kind}List`;
      }
      spec.conversion ??= { strategy: "None" };
      const service = spec.conversion.webhook?.clientConfig?.service;
      if (service !== undefined) service.port ??= 443;
    },
    create: {
      prepare: (draft) => {
        draft.status = { acceptedNames: { plural: "", kind: "" }, storedVersions: [] };
        rememberStorageVersion(draft);
      },
    },
    update: { allowUnconditional: false, prepare: rememberStorageVersion },
    subresources: { status: true },
  },
);

/** Objects may be stored in any version that ever was the storage version. */
function rememberStorageVersion({ spec, status }: Draft<DefinitionObject>): void {
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  if (status === undefined || storage === undefined) return;
  const stored = status.storedVersions ?? [];
  if (!stored.includes(storage)) status.storedVersions = [...stored, storage];
}
