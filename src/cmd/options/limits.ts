/** Limits of single controllers: flags with kube-controller-manager's names. */
import { Option } from "commander";
import type { StandaloneControllerManagerConfig } from "#cluster";
import { integer, milliseconds, wholeNumber } from "./values.ts";

export interface LimitFlagOptions {
  readonly terminatedPodGcThreshold?: number;
  readonly maxEndpointsPerSlice?: number;
  readonly mirroringMaxEndpointsPerSubset?: number;
  readonly legacyServiceAccountTokenCleanUpPeriod?: number;
}

export function limitFlags(): readonly Option[] {
  const number = (flag: string, text: string) => new Option(`--${flag} <number>`, text).argParser(wholeNumber(1, 1000));
  return [
    new Option(
      "--terminated-pod-gc-threshold <number>",
      "finished Pods that are kept before the oldest are deleted; 0 or less: all (default: 12500)",
    ).argParser(integer),
    number("max-endpoints-per-slice", "endpoints in an EndpointSlice (default: 100)"),
    number("mirroring-max-endpoints-per-subset", "addresses of an Endpoints subset that are mirrored (default: 1000)"),
    new Option(
      "--legacy-service-account-token-clean-up-period <duration>",
      "time without use after which an auto-generated token is marked, and then deleted (default: 8760h)",
    ).argParser(milliseconds),
  ];
}

export function limitsFrom(options: LimitFlagOptions): NonNullable<StandaloneControllerManagerConfig["limits"]> {
  return {
    podGc: { terminatedPodThreshold: options.terminatedPodGcThreshold },
    endpointSlices: { maxEndpoints: options.maxEndpointsPerSlice },
    mirroring: { maxPerSubset: options.mirroringMaxEndpointsPerSubset },
    legacyTokens: { restMs: options.legacyServiceAccountTokenCleanUpPeriod },
  };
}
