import { type FieldError, invalid, required, tooLong, type Where } from "../machinery/errors/field-error.ts";
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
  errors.push(...labels.flatMap((label) => labelFaults(checkDns1123Label, domain, label, where)));
  if (labels.length < 2)
    errors.push(invalid(where, domain, "should be a domain with at least two segments separated by dots"));
  errors.push(...path.split(".").flatMap((label) => labelFaults(checkDns1123Subdomain, path, label, where)));
  if (name.length > maxName) errors.push(tooLong(where, maxName));
  return errors;
}

function labelFaults(check: NameCheck, segment: string, label: string, where: Where): readonly FieldError[] {
  return check(label).map((why) => invalid(where, segment, `validating label ${goQuote(label)}: ${why}`));
}
