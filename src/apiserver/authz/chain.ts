/**
 * The chain of modes, called in order until one allows or denies.
 *
 *     system:masters ──► allow
 *     mode ──► mode ──► … ──► no opinion: refused, with all reasons
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
    // No policy can lock out the server's own identity and administrators.
    if (attributes.user.groups.includes(MASTERS)) return ALLOW;
    return decideFrom(modes, 0, attributes, undefined, decided);
  };
}

/** The reasons and errors of modes without an opinion. */
interface Opinions {
  readonly reasons: readonly string[];
  readonly errors: readonly string[];
}

function decideFrom(
  modes: readonly Mode[],
  first: number,
  attributes: Attributes,
  before: Opinions | undefined,
  decided: Decided,
): Maybe<Verdict> {
  let opinions = before;
  for (let i = first; i < modes.length; i++) {
    const mode = modes[i] as Mode;
    const verdict = mode.authorize(attributes);
    if (isPending(verdict)) {
      const soFar = opinions;
      return verdict.then((late) => {
        if (late.decision === "noOpinion") return decideFrom(modes, i + 1, attributes, added(soFar, late), decided);
        decided(mode, late);
        return late;
      });
    }
    if (verdict.decision !== "noOpinion") {
      decided(mode, verdict);
      return verdict;
    }
    opinions = added(opinions, verdict);
  }
  return opinions === undefined ? NO_OPINION : undecided(opinions);
}

function added(opinions: Opinions | undefined, { reason, error }: Verdict): Opinions | undefined {
  if (reason === "" && error === undefined) return opinions;
  return {
    reasons: [...(opinions?.reasons ?? []), ...(reason === "" ? [] : [reason])],
    errors: [...(opinions?.errors ?? []), ...(error === undefined ? [] : [error])],
  };
}

function undecided({ reasons, errors }: Opinions): Verdict {
  const error = joinErrors(errors);
  return { decision: "noOpinion", reason: reasons.join("\n"), error };
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
