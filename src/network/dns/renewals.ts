/**
 * Tells of what the zone has become, and because of which change: part of that change's flow.
 *
 * Only what answers otherwise is told: a Service changes more often than its records do.
 */
import type { Clock } from "#base";
import type { WorkReporter } from "#client";
import type { Renewed } from "./follow.ts";
import type { DnsRecord } from "./records.ts";

/** Of more, their number alone is compared: a headless Service may have thousands. */
const MAX_COMPARED = 500;

export interface Teller {
  readonly zone: string;
  readonly reporter: Pick<WorkReporter, "report">;
  readonly clock: Clock;
}

export function tellOfRenewals({ zone, reporter, clock }: Teller): Renewed {
  return (key, before, now, revision) => {
    const words = differenceOf(before, now);
    if (words === undefined) return;
    const what = `${words} of ${key}`;
    const call = { to: `zone ${zone}`, what, afterMs: 0, tookMs: 0 };
    reporter.report({ about: key, woken: [revision], startedAt: clock.now(), decided: "", calls: [call] });
  };
}

/** `+2 −1 records`; undefined if it is the same as before. */
export function differenceOf(before: readonly DnsRecord[], now: readonly DnsRecord[]): string | undefined {
  if (before.length === 0 && now.length === 0) return undefined;
  if (before.length + now.length > MAX_COMPARED) return `${now.length} records, before ${before.length},`;
  const [old, fresh] = [new Set(before.map(textOf)), new Set(now.map(textOf))];
  const [more, fewer] = [fresh.difference(old).size, old.difference(fresh).size];
  if (more + fewer === 0) return undefined;
  const parts = [...(more > 0 ? [`+${more}`] : []), ...(fewer > 0 ? [`−${fewer}`] : [])];
  return `${parts.join(" ")} record${more + fewer === 1 ? "" : "s"}`;
}

function textOf(record: DnsRecord): string {
  return Object.values(record).join(" ");
}
