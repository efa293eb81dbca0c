/** One way to decide, as `--authorization-mode` names it. */
import type { authorization as review } from "#api";
import type { UserInfo } from "../identity/user.ts";
import type { Authorizer } from "./authorizer.ts";

export const MODE_NAMES = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"] as const;
export type ModeName = (typeof MODE_NAMES)[number];

export interface Mode {
  readonly type: ModeName;
  /** Tells several of one type apart, in metrics. */
  readonly name: string;
  readonly authorize: Authorizer;
  /** All that it would let a user do in a namespace, as far as it can say. */
  rulesFor(user: UserInfo, namespace: string): Rules;
}

export interface Rules {
  readonly resourceRules: readonly review.ResourceRule[];
  readonly nonResourceRules: readonly review.NonResourceRule[];
  /** Not all is known: an authorizer cannot list its rules. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

export const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };

/** Several errors as Go joins them: once each, in brackets if there is more than one. */
export function joinErrors(errors: readonly string[]): string | undefined {
  const distinct = [...new Set(errors)];
  return distinct.length > 1 ? `[${distinct.join(", ")}]` : distinct[0];
}
