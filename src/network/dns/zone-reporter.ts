/**
 * Reports changes of the zone with the revision that caused them, for the flow record.
 *
 * Only changed records are reported: a Service changes more often than its records do.
 */
import type { Clock } from "#base";
import type { WorkReporter } from "#client";
import type { OnZoneChange } from "./follow.ts";
import type { DnsRecord } from "./records.ts";

/** Beyond this, only the number of records is compared: a headless Service may have thousands. */
const MAX_COMPARED = 500;

export interface ZoneReporter {
  readonly zone: string;
  readonly reporter: Pick<WorkReporter, "report">;
  readonly clock: Clock;
}

export function zoneReporter({ zone, reporter, clock }: ZoneReporter): OnZoneChange {
  return (key, before, now, revision) => {
    const difference = differenceOf(before, now);
    if (difference === undefined) return;
    const what = `${difference} of ${key}`;
    const call = { to: `zone ${zone}`, what, afterMs: 0, tookMs: 0 };
    reporter.report({ about: key, woken: [revision], startedAt: clock.now(), decided: "", calls: [call] });
  };
}

/** `+2 −1 records`; undefined if nothing has changed. */
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
