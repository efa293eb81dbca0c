/**
 * Continue tokens: the revision of a list, and where its next page begins. Every API server of a cluster can read them.
 */
import { badRequest, isObject, JsonSyntaxError, parseJson } from "#api";
import type { Revision } from "#store";

const VERSION = "meta.k8s.io/v1";

export interface ContinueToken {
  /** -1: the newest state, because the one of the first page is compacted. */
  readonly revision: Revision;
  /** The last key that was sent, without the prefix of the list. */
  readonly after: string;
}

export function encodeContinue({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: `/${after}\0` })).toString("base64url");
}

export function decodeContinue(token: string): ContinueToken {
  const { v, rv, start } = read(token);
  if (v !== VERSION) throw invalid(`server does not recognize this encoded version ${v}`);
  if (!Number.isSafeInteger(rv) || rv === 0)
    throw invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (typeof start !== "string" || start === "") throw invalid("encoded start key empty (version meta.k8s.io/v1)");
  const key = start.startsWith("/") ? start.slice(1) : start;
  if (key.split("/").includes("..")) throw invalid(`${start}`);
  return { revision: Math.max(-1, rv as number), after: key.endsWith("\0") ? key.slice(0, -1) : key };
}

function read(token: string): Record<string, unknown> {
  try {
    const text = Buffer.from(token, "base64url").toString("latin1");
    // Go's message names the byte, not the character.
    const first = text.charCodeAt(0);
    if (first >= 0x80) throw invalid(`invalid character '\\u00${first.toString(16)}' looking for beginning of value`);
    const value = parseJson(text);
    return isObject(value) ? value : {};
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalid(error.message);
    throw error;
  }
}

function invalid(why: string) {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
