/** Validation of an AuthenticationConfiguration, with Kubernetes' messages. */
import { X509Certificate } from "node:crypto";
import { at, type FieldError, type FieldPath, field } from "#api";
import { extraKeyFaults } from "../extra-key.ts";
import type { AuthenticationConfiguration, JwtAuthenticator, PrefixedClaimOrExpression } from "./configuration.ts";
import type { ExpressionCompiler } from "./expressions.ts";

const MAX_AUTHENTICATORS = 64;
const BOTH = "claim and expression can't both be set";
const EITHER = "claim or expression is required";

/** `disallowedIssuers`: the cluster's own issuers, which no other may claim to be. */
export function validateAuthenticationConfiguration(
  { jwt, anonymous }: AuthenticationConfiguration,
  disallowedIssuers: readonly string[],
  compiler: ExpressionCompiler,
  hasEgress = false,
): readonly FieldError[] {
  const root = at("jwt");
  if (jwt.length > MAX_AUTHENTICATORS) return [field.tooMany(root, jwt.length, MAX_AUTHENTICATORS)];
  const errors: FieldError[] = [];
  jwt.forEach((authenticator, i) => {
    const path = root.index(i);
    const { url, discoveryURL } = authenticator.issuer;
    const before = jwt.slice(0, i);
    errors.push(...validateJwtAuthenticator(authenticator, path, disallowedIssuers, compiler, hasEgress));
    if (before.some(({ issuer }) => issuer.url === url)) errors.push(field.duplicate(path.child("issuer", "url"), url));
    if (discoveryURL !== "" && before.some(({ issuer }) => issuer.discoveryURL === discoveryURL))
      errors.push(field.duplicate(path.child("issuer", "discoveryURL"), discoveryURL));
  });
  if (anonymous !== undefined && !anonymous.enabled && anonymous.conditions.length > 0) {
    const where = at("anonymous", "conditions");
    const given = anonymous.conditions.map(({ path }) => ({ path }));
    errors.push(field.invalid(where, given, "enabled should be set to true when conditions are defined"));
  }
  return errors;
}

export function validateJwtAuthenticator(
  authenticator: JwtAuthenticator,
  path: FieldPath,
  disallowedIssuers: readonly string[],
  compiler: ExpressionCompiler,
  hasEgress = false,
): readonly FieldError[] {
  return [
    ...issuerFaults(authenticator.issuer, path.child("issuer"), disallowedIssuers, hasEgress),
    ...claimRuleFaults(authenticator, path.child("claimValidationRules"), compiler),
    ...mappingFaults(authenticator, path.child("claimMappings"), compiler),
    ...userRuleFaults(authenticator, path.child("userValidationRules"), compiler),
  ];
}

function issuerFaults(
  issuer: JwtAuthenticator["issuer"],
  path: FieldPath,
  disallowed: readonly string[],
  hasEgress: boolean,
): FieldError[] {
  const { url, discoveryURL, audiences, audienceMatchPolicy, certificateAuthority, egressSelectorType } = issuer;
  const errors: FieldError[] = [];
  if (url === "") errors.push(field.required(path.child("url")));
  else errors.push(...urlFaults(url, path.child("url"), disallowed));
  if (discoveryURL !== "") {
    const where = path.child("discoveryURL");
    if (url !== "" && trimmed(url) === trimmed(discoveryURL))
      errors.push(field.invalid(where, discoveryURL, "discoveryURL must be different from URL"));
    errors.push(...urlFaults(discoveryURL, where, []));
  }
  errors.push(...audienceFaults(audiences, audienceMatchPolicy, path));
  if (certificateAuthority !== "" && !isBundle(certificateAuthority)) {
    const why = "data does not contain any valid RSA or ECDSA certificates";
    errors.push(field.invalid(path.child("certificateAuthority"), "<omitted>", why));
  }
  if (egressSelectorType !== "") {
    const where = path.child("egressSelectorType");
    const known = egressSelectorType === "controlplane" || egressSelectorType === "cluster";
    const why = known
      ? `oidc: egress lookup required with egress selector type "${egressSelectorType}"`
      : "egress selector must be either controlplane or cluster";
    if (!known || !hasEgress) errors.push(field.invalid(where, egressSelectorType, why));
  }
  return errors;
}

const trimmed = (url: string) => url.replace(/\/+$/, "");

function urlFaults(text: string, path: FieldPath, disallowed: readonly string[]): FieldError[] {
  const wrong = (why: string) => field.invalid(path, text, why);
  const errors = disallowed.includes(text)
    ? [wrong(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(" ")}]`)]
    : [];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:") errors.push(wrong("URL scheme must be https"));
  if (url === undefined) return errors;
  if (url.username !== "" || url.password !== "") errors.push(wrong("URL must not contain a username or password"));
  if (url.search !== "") errors.push(wrong("URL must not contain a query"));
  if (url.hash !== "") errors.push(wrong("URL must not contain a fragment"));
  return errors;
}

function audienceFaults(audiences: readonly string[], policy: string, path: FieldPath): FieldError[] {
  const where = path.child("audiences");
  if (audiences.length === 0) return [field.required(where, `at least one ${where} is required`)];
  const errors: FieldError[] = [];
  audiences.forEach((audience, i) => {
    if (audience === "") errors.push(field.required(where.index(i)));
    if (audiences.indexOf(audience) < i) errors.push(field.duplicate(where.index(i), audience));
  });
  const policyPath = path.child("audienceMatchPolicy");
  if (audiences.length > 1 && policy !== "MatchAny")
    errors.push(field.invalid(policyPath, policy, "audienceMatchPolicy must be MatchAny for multiple audiences"));
  if (audiences.length === 1 && policy !== "" && policy !== "MatchAny")
    errors.push(field.invalid(policyPath, policy, "audienceMatchPolicy must be empty or MatchAny for single audience"));
  return errors;
}

function isBundle(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function claimRuleFaults(
  { claimValidationRules: rules }: JwtAuthenticator,
  path: FieldPath,
  compiler: ExpressionCompiler,
) {
  const errors: FieldError[] = [];
  rules.forEach(({ claim, requiredValue, expression, message }, i) => {
    const where = path.index(i);
    const before = rules.slice(0, i);
    if (claim !== "" && expression !== "") errors.push(field.invalid(where, claim, BOTH));
    else if (claim !== "") {
      if (message !== "")
        errors.push(field.invalid(where.child("message"), message, "may not be specified when claim is set"));
      if (before.some((rule) => rule.claim === claim)) errors.push(field.duplicate(where.child("claim"), claim));
    } else if (expression !== "") {
      if (requiredValue !== "")
        errors.push(
          field.invalid(where.child("requiredValue"), requiredValue, "may not be specified when expression is set"),
        );
      if (before.some((rule) => rule.expression === expression))
        errors.push(field.duplicate(where.child("expression"), expression));
      else errors.push(...expressionFaults(compiler.claims(expression, "bool"), expression, where.child("expression")));
    } else errors.push(field.required(where, EITHER));
  });
  return errors;
}

function mappingFaults(authenticator: JwtAuthenticator, path: FieldPath, compiler: ExpressionCompiler): FieldError[] {
  const { username, groups, uid, extra } = authenticator.claimMappings;
  const errors = [
    ...prefixedFaults(username, path.child("username"), true, compiler),
    ...prefixedFaults(groups, path.child("groups"), false, compiler),
  ];
  const uidPath = path.child("uid");
  if (uid.claim !== "" && uid.expression !== "") errors.push(field.invalid(uidPath, "", BOTH));
  else if (uid.expression !== "")
    errors.push(
      ...expressionFaults(compiler.claims(uid.expression, "any"), uid.expression, uidPath.child("expression")),
    );
  extra.forEach(({ key, valueExpression }, i) => {
    const where = path.child("extra").index(i);
    const keyPath = where.child("key");
    errors.push(...extraKeyFaults(key, keyPath));
    if (key !== key.toLowerCase()) errors.push(field.invalid(keyPath, key, "must be lowercase"));
    if (isReserved(key)) {
      const why = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
      errors.push(field.invalid(keyPath, key, why));
    }
    if (extra.slice(0, i).some((other) => other.key === key)) errors.push(field.duplicate(keyPath, key));
    else if (valueExpression === "") errors.push(field.required(where.child("valueExpression")));
    else {
      const compiled = compiler.claims(valueExpression, "any");
      errors.push(...expressionFaults(compiled, valueExpression, where.child("valueExpression")));
    }
  });
  if (usesUnverifiedEmail(authenticator, compiler)) {
    const why =
      "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
    errors.push(field.invalid(path.child("username", "expression"), username.expression, why));
  }
  return errors;
}

function prefixedFaults(
  { claim, expression, prefix }: PrefixedClaimOrExpression,
  path: FieldPath,
  needed: boolean,
  compiler: ExpressionCompiler,
): FieldError[] {
  if (claim !== "" && expression !== "") return [field.invalid(path, "", BOTH)];
  if (expression !== "") {
    const errors = [...expressionFaults(compiler.claims(expression, "any"), expression, path.child("expression"))];
    if (prefix !== undefined)
      errors.unshift(field.invalid(path.child("prefix"), prefix, "may not be specified when expression is set"));
    return errors;
  }
  if (claim === "") return needed ? [field.required(path, EITHER)] : [];
  if (prefix !== undefined) return [];
  const why = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
  return [field.required(path.child("prefix"), why)];
}

function userRuleFaults(
  { userValidationRules: rules }: JwtAuthenticator,
  path: FieldPath,
  compiler: ExpressionCompiler,
) {
  const errors: FieldError[] = [];
  rules.forEach(({ expression }, i) => {
    const where = path.index(i).child("expression");
    if (expression === "") errors.push(field.required(where));
    else if (rules.slice(0, i).some((rule) => rule.expression === expression))
      errors.push(field.duplicate(where, expression));
    else errors.push(...expressionFaults(compiler.user(expression), expression, where));
  });
  return errors;
}

function expressionFaults(compiled: object, expression: string, path: FieldPath): FieldError[] {
  return "fault" in compiled ? [field.invalid(path, expression, String(compiled.fault))] : [];
}

function isReserved(key: string): boolean {
  const [domain = ""] = key.includes("/") ? key.split("/", 1) : [];
  return ["k8s.io", "kubernetes.io"].some((own) => domain === own || domain.endsWith(`.${own}`));
}

/** An email address identifies a user only if the issuer has verified it: expressions must check `email_verified`. */
function usesUnverifiedEmail(
  { claimMappings: { username, extra }, claimValidationRules }: JwtAuthenticator,
  compiler: ExpressionCompiler,
): boolean {
  if (username.expression === "" || !compiler.selectsClaim(username.expression, "email")) return false;
  const looking = [
    username.expression,
    ...extra.map(({ valueExpression }) => valueExpression),
    ...claimValidationRules.map(({ expression }) => expression),
  ].filter((expression) => expression !== "");
  return !looking.some((expression) => compiler.selectsClaim(expression, "email_verified"));
}
