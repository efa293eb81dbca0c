/** Names such as `acme.io/foo`: whose, and which of theirs. */
import { type FieldError, invalid, required, type Where } from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";

const pathPattern = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

export function domainPrefixedPathFaults(value: string, where: Where): readonly FieldError[] {
  if (value === "") return [required(where)];
  const slash = value.indexOf("/");
  const [domain, path] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)];
  if (slash < 0 || domain === "" || path === "") {
    return [invalid(where, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = checkDns1123Subdomain(domain).map((why) => invalid(where, domain, why));
  if (!pathPattern.test(path)) {
    const why = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
    errors.push(invalid(where, path, why));
  }
  return errors;
}
