/** An answer of `k8ts why`: what is so, because of what, and what would help; each line with what it was read from. */

export interface Reason {
  readonly text: string;
  /** Where it stands: `status.conditions[PodScheduled]`, `event FailedScheduling`, `revision 1041`. */
  readonly evidence: string;
}

export interface WhyAnswer {
  /** `pod/web-1 is Pending since 3m`. */
  readonly what: string;
  /** From what is seen to what it comes from. */
  readonly because: readonly Reason[];
  readonly help: readonly string[];
}

/** Evidence stands in one column, as far as the words allow it. */
const MAX_COLUMN = 90;

export function renderAnswer({ what, because, help }: WhyAnswer): string {
  const told = because.map(({ text, evidence }, depth) => ({ words: `${"  ".repeat(depth + 1)}└ ${text}`, evidence }));
  const column = Math.min(MAX_COLUMN, Math.max(0, ...told.map(({ words }) => words.length)));
  const lines = told.map(({ words, evidence }) => `${words.padEnd(column)}   (${evidence})`);
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
