/** The messages between the serving thread and the thread that writes the audit log. */
import { type LineValues, lineFrom } from "./line-template.ts";
import type { RotationLimits } from "./rotating-file.ts";

export interface LogWorkerData {
  readonly path: string;
  readonly limits: RotationLimits;
}

export interface BatchMessage {
  /** A line for each event: WHOLE_LINE and the event, or the number of a template and its values. */
  readonly entries: string;
  /** The texts of templates that are new, numbered from where the last ones ended. */
  readonly templates: readonly (readonly string[])[];
}

/** `forget`: numbers of templates start with 0 again. `close`: no more batches follow. */
export type LogMessage = BatchMessage | "forget" | "close";

/** One for each batch, in order. */
export interface LogReply {
  readonly error?: string;
}

export const WHOLE_LINE = "=";
const IN_URI = "+";
const NOT_IN_URI = "-";

/** The values of a template have neither line feeds nor, but for the name, which comes last, spaces. */
export function entryText(
  template: number,
  { id, nameInUri, receivedMs }: LineValues,
  name: string,
  atMs: number,
): string {
  return `${template} ${receivedMs} ${atMs} ${id} ${nameInUri ? IN_URI : NOT_IN_URI}${name}\n`;
}

/** The event of an entry, which comes without its line feed. */
export function eventOf(entry: string, templates: readonly (readonly string[])[]): string {
  if (entry.startsWith(WHOLE_LINE)) return entry.slice(WHOLE_LINE.length);
  const [number, received, at, id = ""] = entry.split(" ", 4);
  const texts = templates[Number(number)];
  if (texts === undefined) throw new Error(`there is no template ${number}`);
  const name = entry.slice(`${number} ${received} ${at} ${id} `.length);
  const values = { id, nameInUri: name.startsWith(IN_URI), receivedMs: Number(received) };
  return lineFrom(texts, values, name.slice(1), Number(at));
}
