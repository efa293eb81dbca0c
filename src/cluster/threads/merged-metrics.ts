/**
 * The metrics of several threads as those of one process.
 *
 * 1. Counters and histograms add up, and so do gauges of what each thread has for itself, such as requests under way.
 * 2. Every other gauge is about the process or the store, which all threads see alike: the first thread's counts.
 */

/** Gauges that each thread has for itself. */
const ADDED_GAUGES: ReadonlySet<string> = new Set([
  "apiserver_current_inflight_requests",
  "apiserver_current_inqueue_requests",
  "apiserver_longrunning_requests",
  "apiserver_longrunning_gauge",
  "apiserver_registered_watchers",
  "apiserver_flowcontrol_current_inqueue_requests",
  "apiserver_flowcontrol_current_inqueue_seats",
  "apiserver_flowcontrol_current_executing_requests",
  "apiserver_flowcontrol_current_executing_seats",
  "apiserver_flowcontrol_request_concurrency_in_use",
]);
const PROCESS = /^(process_|nodejs_|go_)/;

export function mergedMetrics(own: string, others: readonly string[]): string {
  const parsed = others.map(readText);
  const first = readText(own);
  const lines: string[] = [];
  for (const [name, { head, samples }] of first) {
    lines.push(...head);
    const adds = addsUp(name, head);
    const series = new Map(samples);
    if (adds) {
      for (const other of parsed)
        for (const [labels, value] of other.get(name)?.samples ?? [])
          series.set(labels, (series.get(labels) ?? 0) + value);
    }
    for (const [labels, value] of series) lines.push(`${labels} ${value}`);
  }
  for (const [i, other] of parsed.entries()) {
    for (const [name, { head, samples }] of other) {
      if (first.has(name) || parsed.slice(0, i).some((before) => before.has(name))) continue;
      lines.push(...head, ...[...samples].map(([labels, value]) => `${labels} ${value}`));
    }
  }
  return `${lines.join("\n")}\n`;
}

interface Family {
  readonly head: string[];
  readonly samples: Map<string, number>;
}

function addsUp(name: string, head: readonly string[]): boolean {
  if (PROCESS.test(name)) return false;
  return !head.some((line) => line === `# TYPE ${name} gauge`) || ADDED_GAUGES.has(name);
}

function readText(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let family: Family | undefined;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (line.startsWith("# HELP ")) {
      family = { head: [line], samples: new Map() };
      families.set(line.split(" ", 3)[2] ?? "", family);
    } else if (line.startsWith("#")) family?.head.push(line);
    else {
      const space = line.lastIndexOf(" ");
      const value = line.slice(space + 1);
      family?.samples.set(
        line.slice(0, space),
        value === "+Inf" ? Infinity : value === "-Inf" ? -Infinity : Number(value),
      );
    }
  }
  return families;
}
