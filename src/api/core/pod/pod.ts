import { defineKind } from "../../definition/define-kind.ts";
import type { Int64 } from "../../machinery/json/json.ts";
import type { Kind, SelectableFields } from "../../machinery/kind.ts";
import type { Pod as PodObject } from "../../types/core-v1.ts";
import { podColumns, podRowConditions } from "./columns.ts";
import { prepareNewPod } from "./prepare.ts";
import { defaultPod, joinServiceAccountNames } from "./spec/defaults.ts";
import { podWarnings } from "./spec/warnings.ts";
import { ephemeralContainersPart } from "./update/ephemeral-containers.ts";
import { resizePart } from "./update/resize.ts";
import { statusRules } from "./update/status.ts";
import { validatePodCreate, validatePodUpdate } from "./update/update.ts";

export const Pod: Kind<PodObject> = defineKind<PodObject>("v1", "Pod", {
  defaults: defaultPod,
  create: { prepare: prepareNewPod, validate: validatePodCreate },
  update: { validate: validatePodUpdate },
  delete: { graceSeconds },
  // Admission may have set the service account.
  canonicalize: ({ spec }) => {
    if (spec !== undefined) joinServiceAccountNames(spec);
  },
  generation: "spec",
  subresources: { status: statusRules, parts: { ephemeralcontainers: ephemeralContainersPart, resize: resizePart } },
  columns: podColumns,
  rowConditions: podRowConditions,
  selectableFields: selectableFields(),
  fieldAliases: { "spec.host": "spec.nodeName" },
  warnings: (pod, old) => (old === undefined ? podWarnings(pod) : []),
});

/** A pod that has no node, or that has terminated, is deleted without a grace period. */
function graceSeconds({ spec, status }: PodObject, requested: Int64 | undefined): Int64 {
  if (!spec?.nodeName || status?.phase === "Failed" || status?.phase === "Succeeded") return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}

function selectableFields(): SelectableFields<PodObject> {
  const fields: Readonly<Record<string, (pod: PodObject) => string | undefined>> = {
    "spec.nodeName": ({ spec }) => spec?.nodeName,
    "spec.restartPolicy": ({ spec }) => spec?.restartPolicy,
    "spec.schedulerName": ({ spec }) => spec?.schedulerName,
    "spec.serviceAccountName": ({ spec }) => spec?.serviceAccountName,
    "spec.hostNetwork": ({ spec }) => String(spec?.hostNetwork ?? false),
    "status.phase": ({ status }) => status?.phase,
    "status.podIP": ({ status }) => status?.podIPs?.[0]?.ip,
    // A valid field selector, but no pod ever has the field.
    "status.podIPs": () => undefined,
    "status.nominatedNodeName": ({ status }) => status?.nominatedNodeName,
  };
  return { names: Object.keys(fields), valueOf: (pod, name) => fields[name]?.(pod) ?? "" };
}
