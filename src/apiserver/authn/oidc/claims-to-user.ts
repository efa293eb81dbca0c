/**
 * From the claims of a verified token to a user, by the rules of the configuration.
 *
 * 1. Rules are compiled once. A rule that cannot be evaluated for some token refuses that token.
 */
import { goQuote, type Json, type JsonObject } from "#api";
import { credentialIdOf, type UserInfo } from "../../identity/user.ts";
import { type Refused, refused } from "../verdict.ts";
import type { JwtAuthenticator } from "./configuration.ts";
import type { Compiled, ExpressionCompiler } from "./expressions.ts";

export type ClaimsToUser = (claims: JsonObject) => UserInfo | Refused;

/** Thrown and caught in this file. */
class Unfit extends Error {
  override readonly name = "Unfit";
}

type Rule<T> = (claims: JsonObject) => T;

export function claimsToUser(authenticator: JwtAuthenticator, compiler: ExpressionCompiler): ClaimsToUser {
  const username = usernameRule(authenticator, compiler);
  const groups = groupsRule(authenticator, compiler);
  const uid = uidRule(authenticator, compiler);
  const extra = extraRule(authenticator, compiler);
  const checkClaims = claimChecks(authenticator, compiler);
  const checkUser = userChecks(authenticator, compiler);
  return (claims) => {
    try {
      const user: UserInfo = userInfo(username(claims), groups(claims), uid(claims), extra(claims));
      checkClaims(claims);
      checkUser(user);
      return user;
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      return refused(error.message);
    }
  };
}

function userInfo(
  name: string,
  groups: readonly string[],
  uid: string,
  extra: NonNullable<UserInfo["extra"]>,
): UserInfo {
  return { name, groups, ...(uid !== "" && { uid }), ...(Object.keys(extra).length > 0 && { extra }) };
}

function usernameRule({ claimMappings: { username } }: JwtAuthenticator, compiler: ExpressionCompiler): Rule<string> {
  const { claim, prefix = "", expression } = username;
  if (expression !== "") {
    const about = "oidc: error evaluating username claim expression";
    const evaluate = evaluator(compiler.claims(expression, "any"), expression, about);
    return (claims) => {
      const name = evaluate({ claims });
      if (typeof name !== "string") throw new Unfit(`${about}: username claim expression must return a string`);
      if (name === "") throw new Unfit("oidc: empty username via CEL expression is not allowed");
      return name;
    };
  }
  return (claims) => {
    const name = stringClaim(claims, claim, (why) => `oidc: parse username claims ${goQuote(claim)}: ${why}`);
    if (claim === "email" && claims.email_verified !== undefined) {
      const { email_verified: verified } = claims;
      if (typeof verified !== "boolean") throw new Unfit("oidc: parse 'email_verified' claim: it is not a boolean");
      if (!verified) throw new Unfit("oidc: email not verified");
    }
    return prefix + name;
  };
}

function groupsRule(
  { claimMappings: { groups } }: JwtAuthenticator,
  compiler: ExpressionCompiler,
): Rule<readonly string[]> {
  const { claim, prefix = "", expression } = groups;
  if (expression !== "") {
    const about = "oidc: error evaluating group claim expression";
    const evaluate = evaluator(compiler.claims(expression, "any"), expression, about);
    return (claims) => stringList(evaluate({ claims }), about);
  }
  return (claims) => {
    const value = claim === "" ? undefined : claims[claim];
    if (value === undefined) return [];
    // A single group may be a string.
    const list = Array.isArray(value) ? (value as readonly Json[]) : [value];
    return list.map((group) => {
      if (typeof group === "string") return prefix + group;
      throw new Unfit(`oidc: parse groups claim ${goQuote(claim)}: it is neither a string nor a list of strings`);
    });
  };
}

function uidRule({ claimMappings: { uid } }: JwtAuthenticator, compiler: ExpressionCompiler): Rule<string> {
  const { claim, expression } = uid;
  if (claim !== "") {
    return (claims) => stringClaim(claims, claim, (why) => `oidc: parse uid claim ${goQuote(claim)}: ${why}`);
  }
  if (expression === "") return () => "";
  const about = "oidc: error evaluating uid claim expression";
  const evaluate = evaluator(compiler.claims(expression, "any"), expression, about);
  return (claims) => {
    const value = evaluate({ claims });
    if (typeof value !== "string") throw new Unfit(`${about}: uid claim expression must return a string`);
    return value;
  };
}

function extraRule(
  { claimMappings }: JwtAuthenticator,
  compiler: ExpressionCompiler,
): Rule<Readonly<Record<string, readonly string[]>>> {
  const about = "oidc: error evaluating extra claim expression";
  const mappings = claimMappings.extra.map(({ key, valueExpression }) => ({
    key,
    where: `${about}: ${valueExpression}`,
    evaluate: evaluator(compiler.claims(valueExpression, "any"), valueExpression, about),
  }));
  return (claims) => {
    const extra: Record<string, readonly string[]> = { ...credentialIdOf(claims.jti) };
    for (const { key, where, evaluate } of mappings) {
      const values = stringList(evaluate({ claims }), where);
      if (values.length > 0) extra[key] = values;
    }
    return extra;
  };
}

function claimChecks({ claimValidationRules }: JwtAuthenticator, compiler: ExpressionCompiler): Rule<void> {
  const about = "oidc: error evaluating claim validation expression";
  const required = claimValidationRules.filter(({ claim }) => claim !== "");
  const expressions = claimValidationRules
    .filter(({ expression }) => expression !== "")
    .map(({ expression, message }) => condition(compiler.claims(expression, "bool"), expression, message, about));
  return (claims) => {
    for (const { claim, requiredValue } of required) {
      if (claims[claim] === undefined) throw new Unfit(`oidc: required claim ${claim} not present in ID token`);
      const value = stringClaim(claims, claim, (why) => `oidc: parse claim ${claim}: ${why}`);
      if (value === requiredValue) continue;
      throw new Unfit(`oidc: required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`);
    }
    for (const check of expressions) check({ claims });
  };
}

function userChecks({ userValidationRules }: JwtAuthenticator, compiler: ExpressionCompiler): (user: UserInfo) => void {
  const about = "oidc: error evaluating user info validation rule";
  const rules = userValidationRules.map(({ expression, message }) =>
    condition(compiler.user(expression), expression, message, about),
  );
  return ({ name, uid, groups, extra }) => {
    if (rules.length === 0) return;
    const user = { username: name, uid: uid ?? "", groups, extra: extra ?? {} } as unknown as JsonObject;
    for (const check of rules) check({ user });
  };
}

function condition(
  compiled: Compiled,
  expression: string,
  message: string,
  about: string,
): (input: JsonObject) => void {
  const evaluate = evaluator(compiled, expression, about);
  return (input) => {
    const value = evaluate(input);
    if (typeof value !== "boolean") throw new Unfit(`${about}: validation expression must return a boolean`);
    if (!value) throw new Unfit(`${about}: validation expression '${expression}' failed: ${message}`);
  };
}

function evaluator(compiled: Compiled, expression: string, about: string): (input: JsonObject) => Json {
  if ("fault" in compiled) throw new Error(`${expression}: ${compiled.fault}`);
  return (input) => {
    const evaluated = compiled.evaluate(input);
    if ("value" in evaluated) return evaluated.value;
    throw new Unfit(`${about}: expression '${expression}' resulted in error: ${evaluated.error}`);
  };
}

/** As in Kubernetes: null is none, a string is a list of one, empty strings are dropped. */
function stringList(value: Json, about: string): readonly string[] {
  if (value === null || value === "") return [];
  if (typeof value === "string") return [value];
  const list: readonly Json[] = Array.isArray(value) ? value : [0];
  if (!list.every((each) => typeof each === "string")) {
    throw new Unfit(`${about}: expression must return a string or a list of strings`);
  }
  return list.filter((each) => each !== "");
}

function stringClaim(claims: JsonObject, claim: string, words: (why: string) => string): string {
  const value = claims[claim];
  if (value === undefined) throw new Unfit(words("claim not present"));
  if (typeof value !== "string") throw new Unfit(words("it is not a string"));
  return value;
}
