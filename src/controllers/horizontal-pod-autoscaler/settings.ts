/** The settings of the autoscaler: kube-controller-manager's flags `--horizontal-pod-autoscaler-…`. */
export interface AutoscalerSettings {
  /** Between two looks at an autoscaler. */
  readonly syncPeriodMs: number;
  /** How far the ratio of usage to target may be from 1 without an effect. */
  readonly tolerance: number;
  /** How long a higher recommendation holds back a lower one, unless the autoscaler has its own window. */
  readonly downscaleStabilizationMs: number;
  /** After the start of a Pod: its CPU counts only once it is ready and was measured since. */
  readonly cpuInitializationMs: number;
  /** After the start of a Pod: a change to unready within this time means that it has never been ready. */
  readonly initialReadinessDelayMs: number;
  readonly workers: number;
  /** The feature gate HPAConfigurableTolerance: autoscalers may have their own tolerances. */
  readonly configurableTolerance: boolean;
  /** The feature gate HPAScaleToZero: see zero.ts. */
  readonly scaleToZero: boolean;
  /** The feature gate PodLevelResources: requests of the Pod go before those of its containers. */
  readonly podLevelResources: boolean;
}

export const AUTOSCALER_DEFAULTS: AutoscalerSettings = {
  syncPeriodMs: 15_000,
  tolerance: 0.1,
  downscaleStabilizationMs: 300_000,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
  workers: 5,
  configurableTolerance: true,
  scaleToZero: false,
  podLevelResources: true,
};
