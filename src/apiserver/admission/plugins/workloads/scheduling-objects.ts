/** The parts of scheduling.k8s.io/v1alpha2 that plugins read. */
import type { KubeObject } from "#api";

export const GROUP = "scheduling.k8s.io";
export const VERSION = "v1alpha2";

export interface Workload extends KubeObject {
  readonly spec?: { readonly podGroupTemplates?: readonly { readonly name?: string }[] };
}

export interface PodGroup extends KubeObject {
  readonly spec?: {
    readonly podGroupTemplateRef?: {
      readonly workload?: { readonly workloadName?: string; readonly podGroupTemplateName?: string };
    };
    readonly schedulingPolicy?: { readonly gang?: object };
  };
}
