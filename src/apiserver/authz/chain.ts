/**
 * The chain of modes: asked in order until one allows or denies.
 *
 *     system:masters ──► allow
 *     mode ──► mode ──► … ──► no opinion: refused, with every reason that was given
 */

import { isPending, type Maybe } from "#base";
import type { UserInfo } from "../identity/user.ts";
import { MASTERS } from "../identity/user.ts";
import type { Attributes } from "./attributes.ts";
import type { Authorizer } from "./authorizer.ts";
import { joinErrors, type Mode, type Rules } from "./mode.ts";
import { ALLOW, NO_OPINION, type Verdict } from "./verdict.ts";

/** Called with each decision that ended the chain. */
export type Decided = (mode: Mode, verdict: Verdict) => void;

export function chain(modes: readonly Mode[], decided: Decided = () => {}): Authorizer {
  return (attributes) => {
    // The server's own identity and administrators: no policy can lock them out.
    if (attributes.user.groups.includes(MASTERS)) return ALLOW;
    return askFrom(modes, 0, attributes, undefined, decided);
  };
}

interface Said {
  readonly reasons: readonly string[];
  readonly errors: readonly string[];
}

function askFrom(
  modes: readonly Mode[],
  first: number,
  attributes: Attributes,
  before: Said | undefined,
  decided: Decided,
): Maybe<Verdict> {
  let said = before;
  for (let i = first; i < modes.length; i++) {
    const mode = modes[i] as Mode;
    const verdict = mode.authorize(attributes);
    if (isPending(verdict)) {
      const heard = said;
      return verdict.then((late) => {
        if (late.decision === "noOpinion") return askFrom(modes, i + 1, attributes, hear(heard, late), decided);
        decided(mode, late);
        return late;
      });
    }
    if (verdict.decision !== "noOpinion") {
      decided(mode, verdict);
      return verdict;
    }
    said = hear(said, verdict);
  }
  return said === undefined ? NO_OPINION : undecided(said);
}

function hear(said: Said | undefined, { reason, error }: Verdict): Said | undefined {
  if (reason === "" && error === undefined) return said;
  return {
    reasons: [...(said?.reasons ?? []), ...(reason === "" ? [] : [reason])],
    errors: [...(said?.errors ?? []), ...(error === undefined ? [] : [error])],
  };
}

function undecided({ reasons, errors }: Said): Verdict {
  const error = joinErrors(errors);
  return { decision: "noOpinion", reason: reasons.join("\n"), ...(error !== undefined && { error }) };
}

export function allRules(modes: readonly Mode[], user: UserInfo, namespace: string): Rules {
  const all = modes.map((mode) => mode.rulesFor(user, namespace));
  const evaluationError = joinErrors(all.flatMap((rules) => rules.evaluationError ?? []));
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete),
    ...(evaluationError !== undefined && { evaluationError }),
  };
}
