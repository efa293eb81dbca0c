/**
 * An answer of `k8ts why`: the state with its cause, the reasons, and what would help; each reason with its evidence.
 *
 * 1. The first line names the cause, with its figure.
 */

export interface Reason {
  readonly text: string;
  /** Where it was read: `status.conditions[PodScheduled]`, `event FailedScheduling`, `revision 1041`. */
  readonly evidence: string;
}

export interface WhyAnswer {
  /** `pod/web-1 has been Pending for 3 min`. */
  readonly what: string;
  /** `it wants 64 CPUs, the largest node has 2 free`. */
  readonly cause?: string | undefined;
  /** From the visible state to its cause. */
  readonly because: readonly Reason[];
  readonly help: readonly string[];
}

/** Evidence is aligned in one column where the text allows it. */
const MAX_COLUMN = 90;

export type Explained = Omit<WhyAnswer, "what">;

/** `pod/web-1 has been Pending for 3 min: it wants 64 CPUs, the largest node has 2 free`. */
export function headline({ what, cause }: WhyAnswer): string {
  return cause === undefined || cause === "" ? what : `${what}: ${cause}`;
}

/** An answer about another object, as the reasons of this one. */
export function deeper(inner: WhyAnswer, evidence: string): readonly Reason[] {
  return [{ text: headline(inner), evidence }, ...inner.because];
}

export function renderAnswer(answer: WhyAnswer): string {
  const { because, help } = answer;
  const indented = because.map(({ text, evidence }, depth) => ({
    line: `${"  ".repeat(depth + 1)}└ ${text}`,
    evidence,
  }));
  const column = Math.min(MAX_COLUMN, Math.max(0, ...indented.map(({ line }) => line.length)));
  const lines = indented.map(({ line, evidence }) => `${line.padEnd(column)}   (${evidence})`);
  return [headline(answer), ...lines, ...help.map((text) => `  → ${text}`), ""].join("\n");
}

/** `14 s`, `3 min`, `5 h`, `2 days`. */
export function ageOf(fromMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - fromMs) / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

/** ` for 14 s`; nothing without a time. */
export function forAge(time: string | undefined, nowMs: number): string {
  return time === undefined ? "" : ` for ${ageOf(Date.parse(time), nowMs)}`;
}
