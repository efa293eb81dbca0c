/** Columns and cells that many kinds share. */
import type { Column } from "../machinery/kind.ts";
import { parseTime, toMs } from "../machinery/scalars/time.ts";
import type { KubeObject } from "../machinery/schema/object.ts";

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

export const unknownAge = "<unknown>";

/** For kinds whose Name column is not the first one, or has a description of its own. */
export const nameColumn: Column<KubeObject> = {
  name: "Name",
  type: "string",
  format: "name",
  doc: `${meta}.name`,
  cell: ({ metadata }) => metadata.name ?? "",
};

export const ageColumn: Column<KubeObject> = {
  name: "Age",
  type: "string",
  doc: `${meta}.creationTimestamp`,
  cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now),
};

/** How long ago a time was; fractions of a second are allowed. */
export function ageOf(time: string | null | undefined, now: number): string {
  return time === undefined || time === null ? unknownAge : humanDuration(now - toMs(parseTime(time)));
}

/** At most two units, the smaller one only while it matters: `119s`, `2m5s`, `3h4m`, `5d6h`, `400d`, `3y10d`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? withRest(years, "y", days % 365, "d") : `${years}y`;
}

/** `a=b,c=d`, sorted. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? "<none>" : pairs.sort().join(",");
}

/** The first three, and the number of the others. */
export function firstThree(items: readonly string[], count = items.length): string {
  const shown = items.slice(0, 3).join(",");
  return items.length > 3 ? `${shown} + ${count - 3} more...` : shown;
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit}${rest}${restUnit}`;
}
