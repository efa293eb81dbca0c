/** How long an API server leads coordinated elections: flags with kube-apiserver's names. */
import { Option } from "commander";
import { ClusterError, type LeadershipTimes } from "#cluster";
import { milliseconds } from "../values.ts";

export interface LeadershipFlagOptions {
  readonly coordinatedLeadershipLeaseDuration: number;
  readonly coordinatedLeadershipRenewDeadline: number;
  readonly coordinatedLeadershipRetryPeriod: number;
}

export function leadershipOptions(): readonly Option[] {
  const duration = (name: string, text: string, seconds: number) =>
    new Option(`--coordinated-leadership-${name} <duration>`, text)
      .argParser(milliseconds)
      .default(seconds * 1000, `${seconds}s`);
  return [
    duration("lease-duration", "time after which another API server may take over coordinated elections", 15),
    duration("renew-deadline", "time after which an API server that cannot renew that lease stops holding them", 10),
    duration("retry-period", "time between attempts to acquire or renew that lease", 2),
  ];
}

export function leadershipFrom(options: LeadershipFlagOptions): LeadershipTimes {
  const times = {
    leaseMs: options.coordinatedLeadershipLeaseDuration,
    renewDeadlineMs: options.coordinatedLeadershipRenewDeadline,
    retryMs: options.coordinatedLeadershipRetryPeriod,
  };
  if (times.leaseMs <= times.renewDeadlineMs) {
    throw new ClusterError(
      "--coordinated-leadership-lease-duration must be longer than --coordinated-leadership-renew-deadline.",
    );
  }
  if (times.renewDeadlineMs <= 1.2 * times.retryMs) {
    throw new ClusterError(
      "--coordinated-leadership-renew-deadline must be longer than --coordinated-leadership-retry-period, by a fifth.",
    );
  }
  return times;
}
