/** The two modes that do not look: AlwaysAllow and AlwaysDeny. */
import { type Mode, NO_RULES } from "./mode.ts";
import { ALLOW, noOpinion } from "./verdict.ts";

export function alwaysAllow(name = "alwaysallow"): Mode {
  return {
    type: "AlwaysAllow",
    name,
    authorize: () => ALLOW,
    rulesFor: () => ({
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    }),
  };
}

/** It has no opinion on anything, so that system:masters, who are asked before it, can still do everything. */
export function alwaysDeny(name = "alwaysdeny"): Mode {
  const verdict = noOpinion("Everything is forbidden.");
  return { type: "AlwaysDeny", name, authorize: () => verdict, rulesFor: () => NO_RULES };
}
