/** The --oidc-* flags: one issuer. */
import { ConfigurationError } from "../configuration-error.ts";
import type { JwtAuthenticator } from "./configuration.ts";

export interface OidcFlags {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly usernameClaim?: string | undefined;
  /** `-` for none. */
  readonly usernamePrefix?: string | undefined;
  readonly groupsClaim?: string | undefined;
  readonly groupsPrefix?: string | undefined;
  readonly requiredClaims?: Readonly<Record<string, string>> | undefined;
  readonly signingAlgs?: readonly string[] | undefined;
  /** PEM. */
  readonly ca?: string | undefined;
}

export function authenticatorOfFlags(flags: OidcFlags): JwtAuthenticator {
  const { issuerUrl, clientId, usernameClaim = "sub", groupsClaim = "", groupsPrefix = "" } = flags;
  if (issuerUrl === "" || clientId === "") {
    throw new ConfigurationError(
      "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
    );
  }
  return {
    issuer: {
      url: issuerUrl,
      discoveryURL: "",
      certificateAuthority: flags.ca ?? "",
      audiences: [clientId],
      audienceMatchPolicy: "",
      egressSelectorType: "",
    },
    claimValidationRules: Object.entries(flags.requiredClaims ?? {}).map(([claim, requiredValue]) => ({
      claim,
      requiredValue,
      expression: "",
      message: "",
    })),
    claimMappings: {
      username: { claim: usernameClaim, prefix: usernamePrefix(flags, usernameClaim), expression: "" },
      groups: { claim: groupsClaim, prefix: groupsClaim === "" ? undefined : groupsPrefix, expression: "" },
      uid: { claim: "", expression: "" },
      extra: [],
    },
    userValidationRules: [],
  };
}

/** User names of different issuers must not collide; email addresses are unlikely to. */
function usernamePrefix({ usernamePrefix: prefix = "", issuerUrl }: OidcFlags, claim: string): string {
  if (prefix === "-") return "";
  return prefix === "" && claim !== "email" ? `${issuerUrl}#` : prefix;
}
