/** The modes AlwaysAllow and AlwaysDeny. */
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

/** No opinion, which is a refusal; system:masters are allowed before the chain. */
export function alwaysDeny(name = "alwaysdeny"): Mode {
  const verdict = noOpinion("Everything is forbidden.");
  return { type: "AlwaysDeny", name, authorize: () => verdict, rulesFor: () => NO_RULES };
}
