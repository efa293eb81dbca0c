/** Results of expressions as plain JavaScript, for comparisons in tests. */
import { textFromTimestamp } from "../standard/conversions.ts";
import { formatType } from "../values/type.ts";
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  type Outcome,
  Timestamp,
  TypeValue,
  Uint,
} from "../values/value.ts";

/** Ints are bigints, uints `{ uint }`, optionals `{ some }` or `"none"`. */
export function plain(value: Outcome): unknown {
  if (value instanceof CelError) return { error: value.message };
  if (value instanceof Uint) return { uint: value.value };
  if (value instanceof Duration) return { nanos: value.nanos };
  if (value instanceof Timestamp) return textFromTimestamp(value);
  if (value instanceof ListValue) return Array.from({ length: value.size }, (_, index) => plain(value.at(index)));
  if (value instanceof MapValue)
    return new Map([...value.keys()].map((key) => [plain(key), plain(value.get(key) ?? null)]));
  if (value instanceof TypeValue) return { type: formatType(value.type) };
  if (value instanceof Optional) return value.value === undefined ? "none" : { some: plain(value.value) };
  if (value instanceof Uint8Array) return { bytes: [...value] };
  return value instanceof Opaque ? { opaque: formatType(value.type) } : value;
}
