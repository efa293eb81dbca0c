/** Host names, host aliases and DNS of a pod. */

import { fits } from "../../../definition/field-checks.ts";
import { checkStrictIp } from "../../../definition/strict-ip.ts";
import {
  allErrors,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "../../../machinery/errors/field-error.ts";
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkDns1123SubdomainWithUnderscore,
} from "../../../machinery/names/names.ts";
import type { HostAlias, PodDNSConfig, PodSpec } from "../../../types/core-v1.ts";

/** The limits of libc. */
const mostNameservers = 3;
const mostSearches = 32;
const longestSearches = 2048;
const longestHostname = 64;

export function validateDnsConfig(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  at: FieldPath,
): readonly FieldError[] {
  if (policy === "None") {
    if (config === undefined) return [required(at, "must provide `dnsConfig` when `dnsPolicy` is None")];
    if ((config.nameservers ?? []).length === 0) {
      return [required(at.child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")];
    }
  }
  if (config === undefined) return NO_ERRORS;
  const { nameservers = [], searches = [], options = [] } = config;
  const errors: FieldError[] = [];
  if (nameservers.length > mostNameservers) {
    errors.push(
      invalid(at.child("nameservers"), nameservers, `must not have more than ${mostNameservers} nameservers`),
    );
  }
  for (const [i, server] of nameservers.entries())
    errors.push(...checkStrictIp(at.child("nameservers").index(i), server));
  const path = at.child("searches");
  if (searches.length > mostSearches)
    errors.push(invalid(path, searches, `must not have more than ${mostSearches} search paths`));
  if (searches.join(" ").length > longestSearches) {
    errors.push(
      invalid(
        path,
        searches,
        `must not have more than ${longestSearches} characters (including spaces) in the search list`,
      ),
    );
  }
  for (const [i, search] of searches.entries()) {
    if (search !== ".")
      errors.push(...fits(checkDns1123SubdomainWithUnderscore, search.replace(/\.$/, ""), path.index(i)));
  }
  for (const [i, { name }] of options.entries()) {
    if (!name) errors.push(required(at.child("options").index(i), "must not be empty"));
  }
  return errors;
}

export function validateHostAliases(aliases: readonly HostAlias[], at: FieldPath): readonly FieldError[] {
  return aliases.flatMap(({ ip, hostnames = [] }, i) => [
    ...checkStrictIp(at.index(i).child("ip"), ip),
    ...hostnames.flatMap((name, j) => fits(checkDns1123Subdomain, name, at.index(i).child("hostnames").index(j))),
  ]);
}

export function validateHostnames(spec: PodSpec, at: FieldPath): readonly FieldError[] {
  return allErrors(
    spec.hostname ? fits(checkDns1123Label, spec.hostname, at.child("hostname")) : NO_ERRORS,
    spec.subdomain ? fits(checkDns1123Label, spec.subdomain, at.child("subdomain")) : NO_ERRORS,
  );
}

export function validateHostnameOverride(spec: PodSpec, at: FieldPath): readonly FieldError[] {
  const { hostnameOverride: name } = spec;
  if (name === undefined) return NO_ERRORS;
  const path = at.child("hostnameOverride");
  const errors: FieldError[] = [];
  if (spec.setHostnameAsFQDN === true)
    errors.push(forbidden(path, "may not be specified when setHostnameAsFQDN is true"));
  if (spec.hostNetwork === true) errors.push(forbidden(path, "may not be specified when hostNetwork is true"));
  if (name.length > longestHostname) errors.push(tooLong(path, longestHostname));
  return [...errors, ...fits(checkDns1123Subdomain, name, path)];
}
