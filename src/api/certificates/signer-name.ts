import { type FieldError, invalid, NO_ERRORS, required, tooLong, type Where } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import { checkDns1123Label, checkDns1123Subdomain, type NameCheck } from "../machinery/names/names.ts";

const maxDomain = 253;
/** A domain, a slash, and a path that can be the name of an object with a namespace. */
const maxName = 571;

/** `example.com/my-signer`: a domain of at least two labels, and a path. */
export function signerNameFaults(name: string, where: Where): readonly FieldError[] {
  if (name === "") return [required(where)];
  const segments = name.split("/");
  if (segments.length !== 2) {
    return [invalid(where, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  const [domain = "", path = ""] = segments;
  const errors: FieldError[] = [];
  if (domain.length > maxDomain) errors.push(tooLong(where, maxDomain));
  const labels = domain.split(".");
  errors.push(...labelFaults(checkDns1123Label, domain, where));
  if (labels.length < 2)
    errors.push(invalid(where, domain, "should be a domain with at least two segments separated by dots"));
  errors.push(...labelFaults(checkDns1123Subdomain, path, where));
  if (name.length > maxName) errors.push(tooLong(where, maxName));
  return errors;
}

/** Those of the first label that has any. */
function labelFaults(check: NameCheck, segment: string, where: Where): readonly FieldError[] {
  const wrong = segment.split(".").find((label) => check(label).length > 0);
  if (wrong === undefined) return NO_ERRORS;
  return check(wrong).map((why) => invalid(where, segment, `validating label ${goQuote(wrong)}: ${why}`));
}
