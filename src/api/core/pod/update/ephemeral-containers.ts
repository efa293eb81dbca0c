/** `pods/ephemeralcontainers`: adds ephemeral containers; existing ones cannot change. */

import { internalForm, sameInternally, storedForm } from "../../../facts/index.ts";
import { type FieldError, type FieldPath, forbidden } from "../../../machinery/errors/field-error.ts";
import { goQuote } from "../../../machinery/json/go-text.ts";
import { jsonDiff } from "../../../machinery/json/json-diff.ts";
import type { PartRules } from "../../../machinery/kind.ts";
import type { Draft } from "../../../machinery/schema/object.ts";
import type { Pod } from "../../../types/core-v1.ts";
import { mirrorPod } from "../fields/annotations.ts";
import { podOptions } from "../spec/options.ts";
import { keepMetadata, raiseGeneration } from "./kept.ts";
import { specOf, validateAnnotationUpdate, validateMetadataAndSpec } from "./update.ts";

export const ephemeralContainersPart: PartRules<Pod> = {
  verbs: ["get", "patch", "update"],
  prepare: (draft, old) => {
    const added = draft.spec?.ephemeralContainers;
    const { ephemeralContainers: _, ...rest } = specOf(old);
    draft.spec = structuredClone(rest) as Draft<typeof rest>;
    if (added !== undefined) draft.spec.ephemeralContainers = added;
    keepMetadata(draft, old);
    raiseGeneration(draft, old);
  },
  validate: validateEphemeralUpdate,
};

export function validateEphemeralUpdate(pod: Pod, old: Pod, at: FieldPath): readonly FieldError[] {
  if (old.metadata.annotations?.[mirrorPod] !== undefined) {
    return [forbidden("", "static pods do not support ephemeral containers")];
  }
  const options = podOptions(old.spec, old.metadata);
  const errors = [...validateMetadataAndSpec(pod, at, options), ...validateAnnotationUpdate(pod, old, at, options)];
  const path = at.child("spec", "ephemeralContainers");
  const byName = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const container of old.spec?.ephemeralContainers ?? []) {
    const existing = `existing ephemeral containers ${goQuote(container.name)}`;
    const next = byName.get(container.name);
    if (next === undefined) {
      errors.push(forbidden(path, `${existing} may not be removed\n`));
      continue;
    }
    if (sameInternally("core.v1.EphemeralContainer", container, next)) continue;
    const diff = jsonDiff(
      storedForm("core.v1.EphemeralContainer", container),
      internalForm("core.v1.EphemeralContainer", next),
    );
    errors.push(forbidden(path, `${existing} may not be changed\n${diff}`));
  }
  return errors;
}
