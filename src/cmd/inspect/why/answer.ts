/** An answer of `k8ts why`: the state, its reasons, and what would help; each line with its evidence. */

export interface Reason {
  readonly text: string;
  /** Where it was read: `status.conditions[PodScheduled]`, `event FailedScheduling`, `revision 1041`. */
  readonly evidence: string;
}

export interface WhyAnswer {
  /** `pod/web-1 is Pending since 3m`. */
  readonly what: string;
  /** From the visible state to its cause. */
  readonly because: readonly Reason[];
  readonly help: readonly string[];
}

/** Evidence is aligned in one column where the text allows it. */
const MAX_COLUMN = 90;

export function renderAnswer({ what, because, help }: WhyAnswer): string {
  const indented = because.map(({ text, evidence }, depth) => ({
    line: `${"  ".repeat(depth + 1)}└ ${text}`,
    evidence,
  }));
  const column = Math.min(MAX_COLUMN, Math.max(0, ...indented.map(({ line }) => line.length)));
  const lines = indented.map(({ line, evidence }) => `${line.padEnd(column)}   (${evidence})`);
  return [what, ...lines, ...help.map((text) => `  → ${text}`), ""].join("\n");
}

/** `3m`, as kubectl shows ages. */
export function ageOf(fromMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - fromMs) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
