/** A JwtAuthenticator for tests: a plain one, with some things changed. */
import type { JwtAuthenticator } from "../oidc/configuration.ts";

export interface Changes {
  readonly issuer?: Partial<JwtAuthenticator["issuer"]>;
  readonly claimMappings?: Partial<JwtAuthenticator["claimMappings"]>;
  readonly claimValidationRules?: readonly Partial<JwtAuthenticator["claimValidationRules"][number]>[];
  readonly userValidationRules?: JwtAuthenticator["userValidationRules"];
}

export function jwtAuthenticator(changes: Changes = {}): JwtAuthenticator {
  return {
    issuer: {
      url: "https://issuer.example",
      discoveryURL: "",
      certificateAuthority: "",
      audiences: ["kubernetes"],
      audienceMatchPolicy: "",
      egressSelectorType: "",
      ...changes.issuer,
    },
    claimValidationRules: (changes.claimValidationRules ?? []).map((rule) => ({
      claim: "",
      requiredValue: "",
      expression: "",
      message: "",
      ...rule,
    })),
    claimMappings: {
      username: { claim: "sub", prefix: "oidc:", expression: "" },
      groups: { claim: "groups", prefix: "", expression: "" },
      uid: { claim: "", expression: "" },
      extra: [],
      ...changes.claimMappings,
    },
    userValidationRules: changes.userValidationRules ?? [],
  };
}
