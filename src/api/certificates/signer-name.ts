import { type FieldError, invalid, required, tooLong, type Where } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";

/** `example.com/my-signer`: a domain of at least two labels, and a path. */
export function signerNameFaults(name: string, where: Where): readonly FieldError[] {
  if (name === "") return [required(where)];
  const segments = name.split("/");
  if (segments.length !== 2) {
    return [invalid(where, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  const [domain = "", path = ""] = segments;
  const errors: FieldError[] = [];
  for (const why of checkDns1123Subdomain(domain)) {
    errors.push(invalid(where, domain, `validating label ${goQuote(domain)}: ${why}`));
  }
  if (domain.split(".").length < 2)
    errors.push(invalid(where, domain, "should be a domain with at least two segments separated by dots"));
  for (const why of checkDns1123Subdomain(path))
    errors.push(invalid(where, path, `validating label ${goQuote(path)}: ${why}`));
  if (name.length > 571) errors.push(tooLong(where, 571));
  return errors;
}
