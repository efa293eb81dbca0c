/** The name under which a client owns fields: its `fieldManager` parameter, or one derived from its User-Agent. */
import { type FieldError, type FieldPath, invalid, tooLong, type Where } from "../errors/field-error.ts";
import type { ManagedFieldsEntry } from "../schema/object.ts";

const maxBytes = 128;
const maxSubresourceBytes = 256;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Most names: nothing to drop, refuse or count. */
const plain = /^[ -~]{1,128}$/;

/** The part before the first slash, without unprintable characters, at most 128 bytes. */
export function managerName(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager) return fieldManager;
  const program = (userAgent ?? "").split("/", 1)[0] ?? "";
  if (plain.test(program)) return program;
  let name = "";
  let bytes = 0;
  for (const char of program) {
    if (!printable.test(char)) continue;
    bytes += utf8Length(char);
    if (bytes > maxBytes) break;
    name += char;
  }
  return name === "" ? "unknown" : name;
}

/** For the query parameter `fieldManager`, or an entry's `manager`. */
export function validateManagerName(name: string, at: Where): readonly FieldError[] {
  if (name === "" || plain.test(name)) return [];
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

/** Validation of managedFields. */
export function validateManagedFields(entries: readonly ManagedFieldsEntry[], at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (let i = 0; i < entries.length; i++) {
    const { operation = "", fieldsType, manager = "", subresource = "" } = entries[i] as ManagedFieldsEntry;
    const path = at.index(i);
    if (operation !== "Apply" && operation !== "Update")
      errors.push(invalid(path.child("operation"), operation, "must be `Apply` or `Update`"));
    if (fieldsType && fieldsType !== "FieldsV1")
      errors.push(invalid(path.child("fieldsType"), fieldsType, "must be `FieldsV1`"));
    errors.push(...validateManagerName(manager, path.child("manager")));
    if (utf8Length(subresource) > maxSubresourceBytes)
      errors.push(tooLong(path.child("subresource"), maxSubresourceBytes));
  }
  return errors;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** As Go's `%#U`, which prints the character itself only if it is printable. */
function unicode(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
