/**
 * The fields of a request, checked as the protocol demands (RFC 9113, 8.2 and 8.3), as an object with names in lower
 * case.
 *
 * 1. Of repeated single-valued fields the first counts; other repeated fields are joined. Two different content-lengths
 *    are malformed.
 */

export type Fields = Record<string, string | undefined>;

const PSEUDO = new Set([":method", ":path", ":scheme", ":authority"]);
/** Connection-specific fields (8.2.2). */
const FORBIDDEN = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
const SINGLE = new Set([
  "age",
  "authorization",
  "content-length",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "user-agent",
]);
/** A token without capital letters. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE_CHARACTERS = /^[^\0\r\n]*$/;
const SPACE = 32;
const TAB = 9;

/** `list`: names and values in turn. Undefined if the request is malformed. */
export function requestFields(list: readonly string[]): Fields | undefined {
  const fields: Fields = Object.create(null) as Fields;
  let regular = false;
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? "";
    const value = list[i + 1] ?? "";
    if (name.charCodeAt(0) === 58) {
      if (regular || !PSEUDO.has(name) || fields[name] !== undefined) return undefined;
    } else {
      regular = true;
      if (!isName(name) || (name === "te" && value !== "trailers")) return undefined;
    }
    if (!isValue(value)) return undefined;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (name === "content-length" && value !== before) return undefined;
    else if (!SINGLE.has(name)) fields[name] = `${before}${name === "cookie" ? "; " : ", "}${value}`;
  }
  return fields[":method"] && fields[":path"] && fields[":scheme"] ? fields : undefined;
}

/** Whether the list may follow a body. */
export function areTrailers(list: readonly string[]): boolean {
  return list.every((text, i) => (i % 2 === 0 ? isName(text) : isValue(text)));
}

/** The value of content-length. NaN: not a length. */
export function announcedBytes({ "content-length": length }: Fields): number | undefined {
  if (length === undefined) return undefined;
  return /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN;
}

function isName(name: string): boolean {
  return NAME.test(name) && !FORBIDDEN.has(name);
}

/** Without NUL and line ends, and without white space at either end. */
function isValue(value: string): boolean {
  return !isBlank(value.charCodeAt(0)) && !isBlank(value.charCodeAt(value.length - 1)) && VALUE_CHARACTERS.test(value);
}

function isBlank(character: number): boolean {
  return character === SPACE || character === TAB;
}
