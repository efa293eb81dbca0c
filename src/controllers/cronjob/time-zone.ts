/** UTC offsets of time zones. */

/** The UTC offset at an instant. */
export type OffsetMs = (instant: number) => number;

const PARTS = ["year", "month", "day", "hour", "minute", "second"] as const;

/** Undefined: there is no such zone. An empty name is UTC. */
export function timeZone(name: string | undefined): OffsetMs | undefined {
  if (name === undefined || name === "" || name === "UTC") return () => 0;
  const format = formatFor(name);
  if (format === undefined) return undefined;
  return (instant) => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type as string, Number(value)]));
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = PARTS.map((part) => parts.get(part) ?? 0);
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1000) * 1000;
  };
}

function formatFor(timeZoneName: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: timeZoneName,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
