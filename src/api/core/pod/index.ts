/** The whole public surface of this folder: the Pod kind, and what workloads need for their templates. */
export { validateNodeSelector } from "./affinity.ts";
export { defaultPodTemplateSpec } from "./defaults.ts";
export { dropDisabledSpecFields } from "./disabled-fields.ts";
export { internalForm } from "./internal-form.ts";
export { newPod, type PodValidationOptions, podOptions, podTemplateOptions } from "./options.ts";
export { Pod } from "./pod.ts";
export { hasPodLevelResources, type PodTotalsOptions, podLimits, podRequests } from "./pod-totals.ts";
export { computeQosClass, qosClassOf } from "./qos.ts";
export type { Totals } from "./resource-totals.ts";
export { validateOverhead } from "./resources.ts";
export { validateTolerations } from "./scheduling.ts";
export { validatePodSpec } from "./spec.ts";
export { validatePodTemplateSpec } from "./template.ts";
export { jsonDiff } from "./text-diff.ts";
export { podTemplateWarnings } from "./warnings.ts";
