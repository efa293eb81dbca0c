/** Sets of CPUs, in Linux' list format: `0-3,8`. Never changed in place. */
export type CpuSet = ReadonlySet<number>;

export const NO_CPUS: CpuSet = new Set();

/** Throws Error with upstream's words. */
export function parseCpuSet(text: string): CpuSet {
  const cpus = new Set<number>();
  if (text === "") return cpus;
  for (const part of text.split(",")) {
    const bounds = part.split("-");
    const [from, to = from] = bounds.map(cpuNumber);
    if (bounds.length > 2 || from === undefined || to === undefined) throw new Error(`invalid format: "${part}"`);
    if (to < from) throw new Error(`invalid range "${part}" (${from} > ${to})`);
    for (let cpu = from; cpu <= to; cpu += 1) cpus.add(cpu);
  }
  return cpus;
}

function cpuNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new Error(`strconv.Atoi: parsing "${text}": invalid syntax`);
  return Number(text);
}

export function cpuSetText(cpus: Iterable<number>): string {
  const parts: string[] = [];
  const sorted = sortedCpus(cpus);
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end += 1;
    parts.push(end === at ? `${sorted[at]}` : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return parts.join();
}

export function sortedCpus(cpus: Iterable<number>): readonly number[] {
  return [...cpus].sort((a, b) => a - b);
}

export function isSameSet(a: CpuSet, b: CpuSet): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
