/** In place of priority and fairness: a limit of reading requests and one of writing requests at a time. */

import { type Clock, lastly, type MetricsRegistry } from "#base";
import { isLongRunning } from "../http/long-running.ts";
import { isReading } from "../http/verbs.ts";
import { MASTERS } from "../identity/user.ts";
import type { Step } from "../pipeline/compose.ts";
import type { Attributed } from "../pipeline/exchange.ts";
import { inFlightGauges } from "./measures/in-flight-metrics.ts";
import { PeakOfSecond } from "./measures/peak-of-second.ts";
import { tooManyRequests } from "./step.ts";

export interface InFlightLimits {
  /** `--max-requests-inflight`; 0: any number. */
  readonly reading: number;
  /** `--max-mutating-requests-inflight`; 0: any number. */
  readonly mutating: number;
}

export function maxInFlight(
  limits: InFlightLimits,
  { metrics, clock }: { readonly metrics: MetricsRegistry; readonly clock: Clock },
): Step<Attributed> {
  const inFlight = { reading: 0, mutating: 0 };
  const peaks = { reading: new PeakOfSecond(), mutating: new PeakOfSecond() };
  const { executing } = inFlightGauges(metrics);
  metrics.collect(() => {
    executing.readOnly.set(peaks.reading.at(clock.monotonic()));
    executing.mutating.set(peaks.mutating.at(clock.monotonic()));
  });
  return (exchange, next) => {
    const { info, user } = exchange;
    if (isLongRunning(info)) return next(exchange);
    const kind = isReading(info.verb) ? "reading" : "mutating";
    const limit = limits[kind];
    // Members of system:masters are not limited, so that they can repair an overloaded cluster.
    if (limit > 0 && inFlight[kind] >= limit && !user.groups.includes(MASTERS)) return tooManyRequests(1);
    inFlight[kind]++;
    peaks[kind].add(1, clock.monotonic());
    return lastly(
      () => next(exchange),
      () => {
        inFlight[kind]--;
        peaks[kind].add(-1, clock.monotonic());
      },
    );
  };
}
