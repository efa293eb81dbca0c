/** The text format of Prometheus, as far as tests look into it. */
export interface Family {
  readonly type: string;
  /** The level at the beginning of its help. */
  readonly stability: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function familiesIn(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, { type: string; stability: string; samples: Sample[] }>();
  let current: string | undefined;
  for (const line of text.split("\n")) {
    const [, what, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (what !== undefined) {
      const family = families.get(name) ?? { type: "", stability: "", samples: [] };
      families.set(name, family);
      current = name;
      if (what === "TYPE") family.type = rest;
      else family.stability = /^\[(\w+)\]/.exec(rest)?.[1] ?? "";
    } else if (line !== "" && current !== undefined) families.get(current)?.samples.push(sampleIn(line));
  }
  return families;
}

function sampleIn(line: string): Sample {
  const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, key = "", text = ""]) => [key, text] as const,
  );
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}

/** The names of a sample's labels, without the bucket's. */
export function labelNames({ labels }: Sample): readonly string[] {
  return Object.keys(labels)
    .filter((name) => name !== "le")
    .sort();
}
