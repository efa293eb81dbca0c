/** Pressure stall information (PSI): how long tasks waited for a resource. Kernels without it have no such files. */

export interface Pressure {
  /** Microseconds since the cgroup was made. */
  readonly totalUs: number;
  /** Percent of the last 10 s, minute and 5 minutes. */
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

export interface ResourcePressure {
  /** At least one task waited. */
  readonly some?: Pressure | undefined;
  /** All tasks waited. */
  readonly full?: Pressure | undefined;
}

export interface Pressures {
  readonly cpu?: ResourcePressure | undefined;
  readonly memory?: ResourcePressure | undefined;
  readonly io?: ResourcePressure | undefined;
}

type Texts = Readonly<Record<keyof Pressures, string | undefined>>;

/** Undefined where the kernel has none. */
export function parsePressures({ cpu, memory, io }: Texts): Pressures | undefined {
  if (cpu === undefined && memory === undefined && io === undefined) return undefined;
  return { cpu: parsePressure(cpu), memory: parsePressure(memory), io: parsePressure(io) };
}

export function parsePressure(text: string | undefined): ResourcePressure | undefined {
  if (text === undefined) return undefined;
  return { some: lineOf(text, "some"), full: lineOf(text, "full") };
}

function lineOf(text: string, kind: string): Pressure | undefined {
  const line = text.split("\n").find((each) => each.startsWith(`${kind} `));
  if (line === undefined) return undefined;
  const value = (name: string) => Number(new RegExp(` ${name}=([\\d.]+)`).exec(line)?.[1] ?? 0);
  return { totalUs: value("total"), avg10: value("avg10"), avg60: value("avg60"), avg300: value("avg300") };
}

/** As /stats/summary has it. */
export function pressureSummary(pressure: ResourcePressure | undefined): { readonly psi?: object } {
  if (pressure === undefined) return {};
  const part = (found: Pressure | undefined) =>
    found && { total: found.totalUs, avg10: found.avg10, avg60: found.avg60, avg300: found.avg300 };
  return { psi: { full: part(pressure.full), some: part(pressure.some) } };
}
