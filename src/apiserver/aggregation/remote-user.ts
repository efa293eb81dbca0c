/**
 * Who asks, as an extension server is told: by headers that count because the connection is that of the front proxy.
 *
 * 1. What a caller itself has sent under these names has been taken away by authentication; nothing of it is passed on.
 */
import type { UserInfo } from "../identity/user.ts";

const EXTRA = "x-remote-extra-";
/** What may stand in the name of a header as it is; the sign that begins an escape may not. */
const PLAIN = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in the value of a header.
const UNSPEAKABLE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Who this server is when it asks for itself. */
export const AGGREGATOR: UserInfo = { name: "system:kube-aggregator", groups: ["system:masters"] };

export class UnspeakableUser extends Error {
  override readonly name = "UnspeakableUser";
}

/** Throws UnspeakableUser for what no header can say. */
export function remoteUserHeaders({ name, uid = "", groups, extra = {} }: UserInfo): Record<string, string[]> {
  const headers: Record<string, string[]> = { "x-remote-user": [name] };
  if (uid !== "") headers["x-remote-uid"] = [uid];
  if (groups.length > 0) headers["x-remote-group"] = [...groups];
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[EXTRA + escaped(key.toLowerCase())] = [...values];
  }
  return Object.fromEntries(Object.entries(headers).map(([header, values]) => [header, values.map(spoken(header))]));
}

/** Node takes a character of a header for a byte: those of UTF-8 are what others expect. */
function spoken(header: string): (value: string) => string {
  return (value) => {
    if (UNSPEAKABLE.test(value)) throw new UnspeakableUser(`net/http: invalid header field value for "${header}"`);
    return Buffer.from(value).toString("latin1");
  };
}

function escaped(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}
