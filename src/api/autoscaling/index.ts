/** The public surface of autoscaling. */
import type { Kind } from "../machinery/kind.ts";
import { HorizontalPodAutoscaler } from "./horizontal-pod-autoscaler.ts";
import { HorizontalPodAutoscalerV1 } from "./horizontal-pod-autoscaler-v1.ts";

export { HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 };

export const autoscalingKinds: readonly Kind[] = [HorizontalPodAutoscaler, HorizontalPodAutoscalerV1];
