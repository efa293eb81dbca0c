/** A kind that users define. */
import { defineKind } from "../definition/define-kind.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { CustomResourceDefinition as Definition } from "../types/apiextensions-v1.ts";
import { formatWarnings } from "./definition/format-warnings.ts";
import { validateChange, validateNew, validateStatus } from "./definition/validate.ts";
import { definitionDeletion } from "./deletion.ts";

export const CustomResourceDefinition = defineKind<Definition>("apiextensions.k8s.io/v1", "CustomResourceDefinition", {
  generation: "spec",
  defaults: ({ spec, status }) => {
    if (spec.names.kind !== "") {
      spec.names.singular ||= spec.names.kind.toLowerCase();
      spec.names.listKind ||= `${spec.names.kind}List`;
    }
    spec.conversion ??= { strategy: "None" };
    const service = spec.conversion.webhook?.clientConfig?.service;
    if (service !== undefined) service.port ??= 443;
    if (status !== undefined && (status.storedVersions ?? []).length === 0) rememberStorageVersion({ spec, status });
  },
  create: {
    prepare: (draft) => {
      draft.status = { conditions: [], acceptedNames: { plural: "", kind: "" }, storedVersions: [] };
      rememberStorageVersion(draft);
    },
    validate: validateNew,
  },
  update: { allowUnconditional: false, prepare: rememberStorageVersion, validate: validateChange },
  delete: definitionDeletion,
  subresources: { status: { validate: validateStatus } },
  warnings: formatWarnings,
});

/** Objects may be stored in any version that ever was the storage version. */
function rememberStorageVersion({ spec, status }: Pick<Draft<Definition>, "spec" | "status">): void {
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  if (status === undefined || storage === undefined) return;
  const stored = status.storedVersions ?? [];
  if (!stored.includes(storage)) status.storedVersions = [...stored, storage];
}
