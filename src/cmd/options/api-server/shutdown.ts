/** Flags about the start and the end of an API server, with kube-apiserver's names. */
import { Option } from "commander";
import type { ServingSettings } from "#cluster";
import { boolean, duration, notNegative } from "../values.ts";

export interface ShutdownFlagOptions {
  readonly shutdownDelayDuration?: number;
  readonly shutdownSendRetryAfter?: boolean;
  readonly shutdownWatchTerminationGracePeriod?: number;
  readonly livezGracePeriod?: number;
}

export function shutdownOptions(): readonly Option[] {
  return [
    new Option(
      "--shutdown-delay-duration <duration>",
      "how long /readyz fails while everything else is served, before the server stops (default: 0s)",
    ).argParser(duration),
    new Option(
      "--shutdown-send-retry-after [boolean]",
      "keep the port open until requests under way are finished, and answer others with 429 (default: false)",
    )
      .preset("true")
      .argParser(boolean),
    new Option(
      "--shutdown-watch-termination-grace-period <duration>",
      "time within which watches end one after the other (default: 400ms if servers share the store, else 0s: all at once)",
    ).argParser(duration),
    new Option(
      "--livez-grace-period <duration>",
      "how long after the start /livez takes unfinished start hooks for finished (default: 0s)",
    ).argParser(duration),
  ];
}

/** Throws ClusterError. */
export function shutdownFrom(options: ShutdownFlagOptions): ServingSettings {
  const { shutdownDelayDuration: delayMs, shutdownWatchTerminationGracePeriod: watchGraceMs } = options;
  const { shutdownSendRetryAfter: sendRetryAfter, livezGracePeriod: livezGraceMs } = options;
  notNegative(livezGraceMs, "--livez-grace-period can not be a negative value");
  notNegative(delayMs, "--shutdown-delay-duration can not be negative value");
  notNegative(watchGraceMs, "shutdown-watch-termination-grace-period, if provided, can not be a negative value");
  return { livezGraceMs, shutdown: { delayMs, sendRetryAfter, watchGraceMs } };
}
