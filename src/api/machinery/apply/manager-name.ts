/** The name under which a client owns fields: the one it gives, or one made of its User-Agent. */
import { type FieldError, invalid, tooLong, type Where } from "../field-error.ts";
import type { ManagedFieldsEntry } from "../object.ts";

const maxBytes = 128;
const maxSubresourceBytes = 256;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** What stands before the first slash, without unprintable characters, as far as 128 bytes go. */
export function managerName(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager) return fieldManager;
  let name = "";
  let bytes = 0;
  for (const char of (userAgent ?? "").split("/", 1)[0] ?? "") {
    if (!printable.test(char)) continue;
    bytes += utf8Length(char);
    if (bytes > maxBytes) break;
    name += char;
  }
  return name === "" ? "unknown" : name;
}

/** Of the query parameter `fieldManager`, or of an entry's `manager`. */
export function validateManagerName(name: string, at: Where): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (utf8Length(name) > maxBytes) errors.push(tooLong(at, maxBytes));
  let position = 0;
  for (const char of name) {
    if (!printable.test(char))
      errors.push(invalid(at, name, `invalid character ${unicode(char)} (at position ${position})`));
    position += utf8Length(char);
  }
  return errors;
}

/** What the validation of metadata says about managedFields. */
export function validateManagedFields(entries: readonly ManagedFieldsEntry[], at: string): readonly FieldError[] {
  return entries.flatMap(({ operation = "", fieldsType, manager = "", subresource = "" }, i) => [
    ...(operation === "Apply" || operation === "Update"
      ? []
      : [invalid(`${at}[${i}].operation`, operation, "must be `Apply` or `Update`")]),
    ...(fieldsType && fieldsType !== "FieldsV1"
      ? [invalid(`${at}[${i}].fieldsType`, fieldsType, "must be `FieldsV1`")]
      : []),
    ...validateManagerName(manager, `${at}[${i}].manager`),
    ...(utf8Length(subresource) > maxSubresourceBytes ? [tooLong(`${at}[${i}].subresource`, maxSubresourceBytes)] : []),
  ]);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** As Go's `%#U`, which shows the character itself only if it can be printed. */
function unicode(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
