/** Checks the type of a value, and whether it may be null. */
import { goQuote } from "../../machinery/json/go-text.ts";
import { isInt64, isNumeric } from "../../machinery/json/int64.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { Report } from "./check.ts";
import { type Check, kindOf } from "./check.ts";

export interface TypeRules {
  /** None, one, or `integer` and `string`. */
  readonly types: readonly string[];
  readonly nullable: boolean;
  /** A format that applies to the type, else "". */
  readonly format: string;
}

export function typeCheck({ types, nullable, format }: TypeRules): Check | undefined {
  if (types.length === 0 && format === "") return undefined;
  const wanted = types.join(",");
  const numeric = types.includes("number") || types.includes("integer");
  return (value, report) => {
    if (report !== undefined) report.matches++;
    if (value === null) {
      if (types.length === 0 || nullable) return true;
      return misfit(report, wanted, "null");
    }
    const { type, form } = typeOf(value);
    const fits = types.includes(type) || (type === "integer" && types.includes("number"));
    if (format !== "") {
      const textual = typeof value === "string" || Array.isArray(value);
      // Kubernetes checks the format here, and so reports it instead of the type.
      if (!textual && !fits && form !== format) return misfit(report, format, form);
      if (textual && !numeric) return true;
    }
    return fits || misfit(report, wanted, type);
  };
}

function misfit(report: Report | undefined, wanted: string, found: string): false {
  if (report === undefined) return false;
  report.matches--;
  const text = `${report.path} in body must be of type ${wanted}: ${goQuote(found)}`;
  return report.fault("FieldValueTypeInvalid", found, text);
}

function typeOf(value: Json): { readonly type: string; readonly form: string } {
  if (isNumeric(value))
    return isInt64(value) ? { type: "integer", form: "int64" } : { type: "number", form: "float64" };
  const kind = kindOf(value);
  return { type: kind === "list" ? "array" : kind, form: "" };
}
