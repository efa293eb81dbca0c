/** Metrics in the Prometheus text format, with timestamps. */

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly FamilySample[];
}

export interface FamilySample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  readonly atMs?: number;
}

/** Omits families without samples. */
export function exposition(families: readonly Family[]): string {
  const known = new Map<FamilySample["labels"], string>();
  const textOf = (labels: FamilySample["labels"]): string => {
    const text = known.get(labels) ?? labelsText(labels);
    known.set(labels, text);
    return text;
  };
  const lines = families
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map((sample) => `${name}${textOf(sample.labels)} ${sample.value}${timeText(sample.atMs)}`),
    ]);
  return `${lines.join("\n")}\n`;
}

function labelsText(labels: FamilySample["labels"] = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function timeText(atMs: number | undefined): string {
  return atMs === undefined || atMs === 0 ? "" : ` ${Math.round(atMs)}`;
}
