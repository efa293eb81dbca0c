/**
 * What validation of a pod allows beyond its strict rules, so that objects stored under older rules can still be
 * updated. spec/options.ts derives the options from the old object.
 */
export interface PodValidationOptions {
  /** A pod itself, not the template of a workload. */
  readonly isPod: boolean;
  readonly allowAnyDeletionCost: boolean;
  readonly allowIndivisibleHugePages: boolean;
  readonly allowInvalidAffinitySelector: boolean;
  readonly allowInvalidNodeAffinity: boolean;
  readonly allowInvalidSpreadSelector: boolean;
  readonly allowNonLocalTokenPath: boolean;
  readonly allowHostSysctls: boolean;
  readonly allowEmptyImageReference: boolean;
  readonly allowUserNamespacesWithDevices: boolean;
  readonly allowMountOptionPolicy: boolean;
  readonly allowRestartOnInitResize: boolean;
  /** Spread constraints from before matchLabelKeys were merged into the selector. */
  readonly unmergedMatchLabelKeys: boolean;
}

/** The strict rules for a new pod. */
export const newPod: PodValidationOptions = {
  isPod: true,
  allowAnyDeletionCost: false,
  allowIndivisibleHugePages: false,
  allowInvalidAffinitySelector: false,
  allowInvalidNodeAffinity: false,
  allowInvalidSpreadSelector: false,
  allowNonLocalTokenPath: false,
  allowHostSysctls: false,
  allowEmptyImageReference: false,
  allowUserNamespacesWithDevices: false,
  allowMountOptionPolicy: false,
  allowRestartOnInitResize: false,
  unmergedMatchLabelKeys: false,
};
