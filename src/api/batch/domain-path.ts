/** `example.com/controller`: a domain, a slash, and a path. */
import { type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";

const path = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const wholePath = new RegExp(`^${path}$`);

export function validateDomainPrefixedPath(value: string, at: FieldPath): readonly FieldError[] {
  if (value === "") return [required(at)];
  const slash = value.indexOf("/");
  const domain = value.slice(0, Math.max(slash, 0));
  const rest = value.slice(slash + 1);
  if (slash < 0 || domain === "" || rest === "") {
    return [invalid(at, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = checkDns1123Subdomain(domain).map((why) => invalid(at, domain, why));
  if (wholePath.test(rest)) return errors;
  return [...errors, invalid(at, rest, `Invalid path (regex used for validation is '${path}')`)];
}
