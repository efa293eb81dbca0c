/** The error for a body in which no object can be found. */
import { badRequest } from "#api";

const SAMPLE_BYTES = 30;

export function unrecognized(what: string, why: string, bytes: Buffer) {
  return badRequest(`the object provided is unrecognized (must be of type ${what}): ${why} (${sample(bytes)})`);
}

/** The beginning of a body for an error message: text if it looks like an object, else bytes. */
function sample(bytes: Buffer): string {
  if (bytes.length === 0) return "<empty>";
  const start = bytes.subarray(0, SAMPLE_BYTES).toString(bytes[0] === 0x7b ? "utf8" : "hex");
  return bytes.length <= SAMPLE_BYTES ? start : `${start} ...`;
}
