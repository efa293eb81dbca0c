/** What the first authorizer lets a user do, as rules. */
import type { UserInfo } from "../authn/user.ts";
import type { Rules } from "./reviews.ts";

export function mastersRules({ groups }: UserInfo): Rules {
  const everything = groups.includes("system:masters");
  return {
    resourceRules: everything ? [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }] : [],
    nonResourceRules: everything
      ? [{ verbs: ["*"], nonResourceURLs: ["*"] }]
      : [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"] }],
    incomplete: false,
  };
}
