/** The decision of an authorizer. */

export type Decision = "allow" | "deny" | "noOpinion";

export interface Verdict {
  readonly decision: Decision;
  /** For audit, reviews and refusals; may be empty. */
  readonly reason: string;
  /** An error during the decision: a refusal for this reason is an error of the server, not of the client. */
  readonly error?: string | undefined;
}

export const ALLOW: Verdict = { decision: "allow", reason: "" };
export const NO_OPINION: Verdict = { decision: "noOpinion", reason: "" };

export function noOpinion(reason: string): Verdict {
  return { decision: "noOpinion", reason };
}
