/**
 * The X-Remote-… headers that name the user to an extension server, which trusts them because of the front-proxy
 * certificate.
 *
 * 1. Headers of these names in the client's request are removed by authentication and never passed on.
 */
import type { UserInfo } from "../identity/user.ts";

const EXTRA = "x-remote-extra-";
/** Characters that need no escape in the name of a header; the escape sign itself does. */
const PLAIN = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in the value of a header.
const UNSPEAKABLE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** The user of this server's own requests. */
export const AGGREGATOR: UserInfo = { name: "system:kube-aggregator", groups: ["system:masters"] };

export class UnspeakableUser extends Error {
  override readonly name = "UnspeakableUser";
}

/** Throws UnspeakableUser if a name cannot be sent as a header. */
export function remoteUserHeaders({ name, uid = "", groups, extra = {} }: UserInfo): Record<string, string[]> {
  const headers: Record<string, string[]> = { "x-remote-user": [name] };
  if (uid !== "") headers["x-remote-uid"] = [uid];
  if (groups.length > 0) headers["x-remote-group"] = [...groups];
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[EXTRA + escaped(key.toLowerCase())] = [...values];
  }
  return Object.fromEntries(Object.entries(headers).map(([header, values]) => [header, values.map(spoken(header))]));
}

/** Node writes each character of a header as one byte; servers expect UTF-8. */
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
