/** The public surface of this folder: the Pod kind, and what workloads need for their templates. */

export { jsonDiff } from "../../machinery/json/json-diff.ts";
export { validateNodeSelector } from "../node/node-selector.ts";
export { newPod, type PodValidationOptions } from "./fields/validation-options.ts";
export { Pod } from "./pod.ts";
export type { Totals } from "./resources/container-totals.ts";
export { hasPodLevelResources, type PodTotalsOptions, podLimits, podRequests } from "./resources/pod-totals.ts";
export { computeQosClass, qosClassOf } from "./resources/qos.ts";
export { validateOverhead } from "./resources/resources.ts";
export { validateTolerations } from "./scheduling/scheduling.ts";
export { withPrivilegedRefused } from "./security/privileged.ts";
export { defaultPodTemplateSpec } from "./spec/defaults.ts";
export { podOptions, podTemplateOptions } from "./spec/options.ts";
export { validatePodSpec } from "./spec/spec.ts";
export { validatePodTemplateSpec } from "./spec/template.ts";
export { podTemplateWarnings } from "./spec/warnings.ts";
