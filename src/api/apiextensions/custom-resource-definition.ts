/**
 * CustomResourceDefinition: a kind that users define.
 *
 * 1. A definition is deleted in two steps. The first request only marks it; a finalizer holds it until its instances
 *    are gone.
 */
import { defineKind } from "../definition/define-kind.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { DeleteRules } from "../machinery/kind.ts";
import type { Draft } from "../machinery/schema/object.ts";
import type { CustomResourceDefinition as Definition } from "../types/apiextensions-v1.ts";
import { hoist, schemasOf } from "./definition/hoisted.ts";
import { schemasWithin } from "./definition/schema-facts.ts";
import { validateChange, validateNew, validateStatus } from "./definition/validate.ts";
import { isKnownFormat } from "./values/formats.ts";

const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

const pending = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionPending",
  message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
};

const definitionDeletion: DeleteRules<Definition> = {
  holds: ({ metadata }) => metadata.deletionTimestamp === undefined,
  mark: (draft) => {
    const { metadata, status } = draft;
    const finalizers = metadata.finalizers ?? [];
    if (finalizers.includes(cleanupFinalizer)) return;
    metadata.finalizers = [...finalizers, cleanupFinalizer];
    const others = (status?.conditions ?? []).filter(({ type }) => type !== pending.type);
    const marked = { ...pending, lastTransitionTime: metadata.deletionTimestamp ?? "" };
    draft.status = { ...status, conditions: [...others, marked] };
  },
};

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

/** Warns about new formats that are not validated. */
function formatWarnings(definition: Definition, old: Definition | undefined): readonly string[] {
  const before = new Set(old === undefined ? [] : unknownFormats(old));
  return unknownFormats(definition)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

function unknownFormats({ spec }: Definition): readonly string[] {
  // A schema that all versions share is walked once.
  const shared = hoist(spec).top.schema?.openAPIV3Schema;
  const schemas = shared === undefined ? schemasOf(spec) : [shared];
  return schemas.flatMap((root) =>
    [...schemasWithin(root)].flatMap(({ format, type = "" }) =>
      format && !isKnownFormat(format, type) ? [format] : [],
    ),
  );
}
