/**
 * URLs as Go's net/url reads and writes them, which differs from browsers and from RFC 3986.
 *
 * 1. Strings here hold one character for each byte of UTF-8, from `toBytes` to `fromBytes`.
 * 2. `parseUri` refuses what a request line may not hold: the URL is absolute, or a path from the root. An accepted URL
 *    is then read as a link, where `#` begins a fragment.
 * 3. Parsing is linear in the length of the text.
 */
import { goQuote } from "../../../json/go-text.ts";
import { AddressError, parseAddress } from "./netip.ts";

export interface Url {
  readonly scheme: string;
  /** With its port: `[::1]:80`. */
  readonly host: string;
  readonly escapedPath: string;
  readonly rawQuery: string;
  /** As Go writes it back. */
  readonly text: string;
}

export class UrlError extends Error {
  override readonly name = "UrlError";
}

type Part = "path" | "host" | "zone" | "user" | "query" | "fragment";

/** Characters that are not escaped, besides letters and digits. */
const unescaped: Readonly<Record<Part, RegExp>> = {
  path: /[-_.~$&+,/:;=@]/,
  host: /[-_.~!$&'()*+,;=:[\]<>"]/,
  zone: /[-_.~!$&'()*+,;=:[\]<>"]/,
  user: /[-_.~$&+,;=]/,
  query: /[-_.~]/,
  fragment: /[-_.~$&+,/:;=?@!()*]/,
};
/** Characters of a string that counts as escaped already. */
const validWhenEscaped = /^(?:[a-zA-Z0-9]|[-_.~$&+,/:;=@!'()*[\]%])*$/;
const validFragment = /^(?:[a-zA-Z0-9]|[-_.~$&+,/:;=?@!'()*[\]%])*$/;
const hexPair = /^[0-9a-fA-F]{2}$/;
/** With more parameters than this, none is read. */
const mostParameters = 10_000;

/** Fails where Go's `ParseRequestURI` does. */
export function parseUri(text: string): Url {
  const whole = toBytes(text);
  wrapping(text, () => parse(whole, true));
  const hash = whole.indexOf("#");
  const link = hash < 0 ? whole : whole.slice(0, hash);
  const parsed = wrapping(fromBytes(link), () => parse(link, false));
  const fragment = hash < 0 ? "" : whole.slice(hash + 1);
  return finished(parsed, fragment === "" ? "" : wrapping(text, () => escapedFragment(fragment)));
}

export function isUri(text: string): boolean {
  return uriFault(text) === undefined;
}

/** The error of an invalid URL; undefined for a valid one. */
export function uriFault(text: string): string | undefined {
  try {
    wrapping(text, () => parse(toBytes(text), true));
    return undefined;
  } catch (error) {
    if (error instanceof UrlError) return error.message;
    throw error;
  }
}

/** Without the port, and without the brackets around an IPv6 address. */
export function hostname({ host }: Url): string {
  const name = host.slice(0, host.length - portWithColon(host).length);
  return name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
}

export function port({ host }: Url): string {
  return portWithColon(host).slice(1);
}

/** Values by key, both unescaped; invalid ones are dropped. */
export function queryOf({ rawQuery }: Url): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  if (rawQuery === "") return found;
  const pairs = rawQuery.split("&");
  if (pairs.length > mostParameters) return found;
  for (const pair of pairs) {
    if (pair === "" || pair.includes(";")) continue;
    const equals = pair.indexOf("=");
    try {
      const key = fromBytes(plainOf(equals < 0 ? pair : pair.slice(0, equals), "query"));
      const value = fromBytes(plainOf(equals < 0 ? "" : pair.slice(equals + 1), "query"));
      const values = found.get(key);
      if (values === undefined) found.set(key, [value]);
      else values.push(value);
    } catch (error) {
      if (!(error instanceof UrlError)) throw error;
    }
  }
  return found;
}

interface Parsed {
  readonly scheme: string;
  readonly opaque: string;
  /** Escaped, with the `@`. */
  readonly user: string | undefined;
  readonly host: string;
  readonly omitHost: boolean;
  readonly path: string;
  readonly query: string;
  readonly forceQuery: boolean;
}

function parse(whole: string, forRequest: boolean): Parsed {
  if (hasControlCharacter(whole)) throw new UrlError("net/url: invalid control character in URL");
  if (whole === "" && forRequest) throw new UrlError("empty url");
  const none = { scheme: "", opaque: "", user: undefined, host: "", omitHost: false, query: "", forceQuery: false };
  if (whole === "*") return { ...none, path: "*" };
  const scheme = schemeOf(whole);
  let rest = scheme === "" ? whole : whole.slice(scheme.length + 1);
  const mark = rest.indexOf("?");
  const forceQuery = mark >= 0 && mark === rest.length - 1;
  const query = mark < 0 ? "" : rest.slice(mark + 1);
  if (mark >= 0) rest = rest.slice(0, mark);
  const base = { ...none, scheme: scheme.toLowerCase(), query, forceQuery };
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { ...base, opaque: rest, path: "" };
    if (forRequest) throw new UrlError("invalid URI for request");
    if (/^[^/]*:/.test(rest)) throw new UrlError("first path segment in URL cannot contain colon");
  }
  if ((scheme !== "" || (!forRequest && !rest.startsWith("///"))) && rest.startsWith("//")) {
    const slash = rest.indexOf("/", 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    return {
      ...base,
      ...parseAuthority(base.scheme, authority),
      path: checkedPath(slash < 0 ? "" : rest.slice(slash)),
    };
  }
  return { ...base, omitHost: scheme !== "" && rest.startsWith("/"), path: checkedPath(rest) };
}

function schemeOf(whole: string): string {
  if (whole.startsWith(":")) throw new UrlError("missing protocol scheme");
  return /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(whole)?.[1] ?? "";
}

function parseAuthority(scheme: string, authority: string): Pick<Parsed, "user" | "host"> {
  const at = authority.lastIndexOf("@");
  const host = parseHost(scheme, authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[a-zA-Z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError("net/url: invalid userinfo");
  const colon = user.indexOf(":");
  const name = escapedOf(plainOf(colon < 0 ? user : user.slice(0, colon), "user"), "user");
  if (colon < 0) return { user: `${name}@`, host };
  return { user: `${name}:${escapedOf(plainOf(user.slice(colon + 1), "user"), "user")}@`, host };
}

function parseHost(scheme: string, host: string): string {
  const open = host.lastIndexOf("[");
  if (open >= 0) return parseBracketed(host, open);
  // Lists of hosts with ports are common in database URLs: only http and https are strict.
  const strict = scheme === "http" || scheme === "https";
  const colon = strict ? host.indexOf(":") : host.lastIndexOf(":");
  if (colon >= 0) checkPort(host.slice(colon));
  return plainOf(host, "host");
}

function parseBracketed(host: string, open: number): string {
  if (open > 0) throw new UrlError("invalid IP-literal");
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  const colonPort = host.slice(close + 1);
  checkPort(colonPort);
  const name = host.slice(1, close);
  const percent = name.indexOf("%25");
  const plain =
    percent < 0
      ? plainOf(name, "host")
      : plainOf(name.slice(0, percent), "host") + plainOf(name.slice(percent), "zone");
  try {
    if (parseAddress(fromBytes(plain)).bytes.length === 4) throw new UrlError("invalid IP-literal");
  } catch (error) {
    if (error instanceof AddressError) throw new UrlError(`invalid host: ${error.message}`);
    throw error;
  }
  return `[${plain}]${colonPort}`;
}

function checkPort(colonPort: string): void {
  if (!/^(?::\d*)?$/.test(colonPort)) throw new UrlError(`invalid port ${goQuote(fromBytes(colonPort))} after host`);
}

function portWithColon(host: string): string {
  const colon = host.lastIndexOf(":");
  return colon >= 0 && /^:\d*$/.test(host.slice(colon)) ? host.slice(colon) : "";
}

function checkedPath(path: string): string {
  const plain = plainOf(path, "path");
  return validWhenEscaped.test(path) ? path : escapedOf(plain, "path");
}

function escapedFragment(fragment: string): string {
  const plain = plainOf(fragment, "fragment");
  return validFragment.test(fragment) ? fragment : escapedOf(plain, "fragment");
}

function finished(url: Parsed, fragment: string): Url {
  const { scheme, opaque, user, host, omitHost, path } = url;
  let text = scheme === "" ? "" : `${scheme}:`;
  if (opaque !== "") {
    text += opaque;
  } else {
    const named = scheme !== "" || host !== "" || user !== undefined;
    if (named && !(omitHost && host === "" && user === undefined)) {
      if (host !== "" || path !== "" || user !== undefined) text += "//";
      text += `${user ?? ""}${escapedOf(host, "host")}`;
    }
    if (text === "" && /^[^/]*:/.test(path)) text = "..";
    text += path;
  }
  if (url.forceQuery || url.query !== "") text += `?${url.query}`;
  if (fragment !== "") text += `#${fragment}`;
  return { scheme, host: fromBytes(host), escapedPath: path, rawQuery: url.query, text };
}

function plainOf(text: string, part: Part): string {
  let plain = "";
  let start = 0;
  const inHost = part === "host" || part === "zone";
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === "%") {
      const digits = text.slice(i + 1, i + 3);
      if (!hexPair.test(digits)) throw new UrlError(`invalid URL escape ${goQuote(fromBytes(text.slice(i, i + 3)))}`);
      const code = Number.parseInt(digits, 16);
      const refused =
        digits !== "25" &&
        ((part === "host" && code < 0x80) || (part === "zone" && code !== 0x20 && isEscaped(code, "host")));
      if (refused) throw new UrlError(`invalid URL escape ${goQuote(text.slice(i, i + 3))}`);
      plain += text.slice(start, i) + String.fromCharCode(code);
      i += 2;
      start = i + 1;
    } else if (char === "+" && part === "query") {
      plain += `${text.slice(start, i)} `;
      start = i + 1;
    } else if (inHost && char < "\x80" && isEscaped(char.charCodeAt(0), part)) {
      throw new UrlError(`invalid character ${goQuote(char)} in host name`);
    }
  }
  return plain + text.slice(start);
}

function escapedOf(plain: string, part: Part): string {
  let text = "";
  for (let i = 0; i < plain.length; i++) {
    const code = plain.charCodeAt(i);
    text += isEscaped(code, part) ? `%${code.toString(16).toUpperCase().padStart(2, "0")}` : plain.charAt(i);
  }
  return text;
}

function isEscaped(code: number, part: Part): boolean {
  if ((code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)) return false;
  return code >= 0x80 || !unescaped[part].test(String.fromCharCode(code));
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

function wrapping<T>(text: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UrlError) throw new UrlError(`parse ${goQuote(text)}: ${error.message}`);
    throw error;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function toBytes(text: string): string {
  if (isAscii(text)) return text;
  let bytes = "";
  for (const byte of encoder.encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

function fromBytes(bytes: string): string {
  return isAscii(bytes) ? bytes : decoder.decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false;
  return true;
}
