/** Concurrency flags, with kube-apiserver's names. */
import { Option } from "commander";
import { type ClusterConfig, ClusterError } from "#cluster";
import { boolean, wholeNumber } from "../values.ts";

export interface FairnessFlagOptions {
  readonly enablePriorityAndFairness?: boolean;
  readonly maxRequestsInflight?: number;
  readonly maxMutatingRequestsInflight?: number;
}

export function fairnessOptions(): readonly Option[] {
  return [
    new Option(
      "--enable-priority-and-fairness [boolean]",
      "limit concurrency by API priority and fairness: FlowSchemas and PriorityLevelConfigurations (default: true)",
    )
      .preset("true")
      .argParser(boolean),
    new Option(
      "--max-requests-inflight <n>",
      "maximum number of concurrent non-mutating requests; with priority and fairness, the sum of both limits (default: 400)",
    ).argParser(wholeNumber(0, 1_000_000)),
    new Option(
      "--max-mutating-requests-inflight <n>",
      "maximum number of concurrent mutating requests (default: 200)",
    ).argParser(wholeNumber(0, 1_000_000)),
  ];
}

export function fairnessFrom(options: FairnessFlagOptions): NonNullable<ClusterConfig["fairness"]> {
  const { enablePriorityAndFairness: fair, maxRequestsInflight, maxMutatingRequestsInflight } = options;
  if (fair !== false && maxRequestsInflight === 0 && maxMutatingRequestsInflight === 0) {
    throw new ClusterError(
      "--max-requests-inflight and --max-mutating-requests-inflight must add up to something positive.",
    );
  }
  return {
    ...(fair !== undefined && { fair }),
    ...(maxRequestsInflight !== undefined && { reading: maxRequestsInflight }),
    ...(maxMutatingRequestsInflight !== undefined && { mutating: maxMutatingRequestsInflight }),
  };
}
