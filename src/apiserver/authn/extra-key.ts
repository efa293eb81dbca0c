/** Keys of `extra`: a domain and a path, such as `example.org/team`. */
import { at, checkDns1123Subdomain, type FieldError, type FieldPath, field } from "#api";

const PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
const PATH_WORDS = `Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`;

export function extraKeyFaults(key: string, where: FieldPath = at("extra", "key")): readonly FieldError[] {
  if (key === "") return [field.required(where)];
  const slash = key.indexOf("/");
  const host = key.slice(0, Math.max(slash, 0));
  const path = key.slice(slash + 1);
  if (host === "" || path === "") {
    return [field.invalid(where, key, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const faults = checkDns1123Subdomain(host).map((fault) => field.invalid(where, host, fault));
  return PATH.test(path) ? faults : [...faults, field.invalid(where, path, PATH_WORDS)];
}
