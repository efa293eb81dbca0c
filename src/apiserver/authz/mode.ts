/** A mode of `--authorization-mode`. */
import type { authorization as review } from "#api";
import type { UserInfo } from "../identity/user.ts";
import type { Authorizer } from "./authorizer.ts";

export const MODE_NAMES = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"] as const;
export type ModeName = (typeof MODE_NAMES)[number];

export interface Mode {
  readonly type: ModeName;
  /** Distinguishes modes of one type, in metrics. */
  readonly name: string;
  readonly authorize: Authorizer;
  /** The rules of a user in a namespace, as far as the mode can list them. */
  rulesFor(user: UserInfo, namespace: string): Rules;
}

export interface Rules {
  readonly resourceRules: readonly review.ResourceRule[];
  readonly nonResourceRules: readonly review.NonResourceRule[];
  /** The list is incomplete: a mode cannot list its rules. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

export const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };

/** Several errors in one message, like Go's aggregates: each once, in brackets if there are several. */
export function joinErrors(errors: readonly string[]): string | undefined {
  const distinct = [...new Set(errors)];
  return distinct.length > 1 ? `[${distinct.join(", ")}]` : distinct[0];
}
