/** What an authorizer says of a request. */

export type Decision = "allow" | "deny" | "noOpinion";

export interface Verdict {
  readonly decision: Decision;
  /** Why, for audit, reviews and refusals; may be empty. */
  readonly reason: string;
  /** What went wrong on the way to it: a refusal for this reason is a fault of the server, not of the caller. */
  readonly error?: string;
}

export const ALLOW: Verdict = { decision: "allow", reason: "" };
export const NO_OPINION: Verdict = { decision: "noOpinion", reason: "" };

export function noOpinion(reason: string): Verdict {
  return { decision: "noOpinion", reason };
}
