/**
 * Rewrites the links of an HTML page. It cuts the page into tags and the rest as Go's tokenizer does.
 *
 * 1. Only start tags are written anew, with quoted attributes; everything else stays as it is, byte for byte.
 * 2. Text of scripts and styles is no markup. A tag that never ends is left out.
 */
import { table } from "#base";

/** The attributes that have URLs, by tag. */
const LINKS: Readonly<Record<string, readonly string[]>> = table({
  a: ["href"],
  applet: ["codebase"],
  area: ["href"],
  audio: ["src"],
  base: ["href"],
  blockquote: ["cite"],
  body: ["background"],
  button: ["formaction"],
  command: ["icon"],
  del: ["cite"],
  embed: ["src"],
  form: ["action"],
  frame: ["longdesc", "src"],
  head: ["profile"],
  html: ["manifest"],
  iframe: ["longdesc", "src"],
  img: ["longdesc", "src", "usemap"],
  input: ["src", "usemap", "formaction"],
  ins: ["cite"],
  link: ["href"],
  object: ["classid", "codebase", "data", "usemap"],
  q: ["cite"],
  script: ["src"],
  source: ["src"],
  video: ["poster", "src"],
});

/** Tags whose content is text up to their end tag. */
const TEXT_ONLY = ["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

const NAME = /[a-z][^\s/>]*/iy;
const ATTRIBUTE = /[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(?=>)|([^\s>]+)))?/y;
const END = /[\s/]*>/y;

interface Tag {
  readonly text: string;
  readonly name: string;
  /** Behind its `>`. */
  readonly end: number;
}

export function rewriteHtml(page: string, rewrite: (url: string) => string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = page.indexOf("<"); at >= 0; at = page.indexOf("<", at)) {
    const next = page[at + 1] ?? "";
    if (/[a-z]/i.test(next)) {
      parts.push(page.slice(copied, at));
      const tag = readTag(page, at + 1, rewrite);
      if (tag === undefined) return parts.join("");
      parts.push(tag.text);
      copied = tag.end;
      at = TEXT_ONLY.includes(tag.name) ? endOfText(page, tag) : tag.end;
    } else at = next === "/" || next === "!" || next === "?" ? endOfOther(page, at) : at + 1;
  }
  return parts.join("") + page.slice(copied);
}

/** A start tag, whose name begins at `at`. Undefined: it has no end. */
function readTag(page: string, at: number, rewrite: (url: string) => string): Tag | undefined {
  const name = lowerCase(match(NAME, page, at)?.[0] ?? "");
  const parts = [`<${name}`];
  let place = at + name.length;
  for (let end = match(END, page, place); end === null; end = match(END, page, place)) {
    const found = match(ATTRIBUTE, page, place);
    if (found === null) return undefined;
    place += found[0].length;
    const [, key = "", double, single, bare] = found;
    const value = decoded(double ?? single ?? bare ?? "");
    const isLink = LINKS[name]?.includes(lowerCase(key)) === true;
    parts.push(` ${lowerCase(key)}="${encoded(isLink ? rewrite(value) : value)}"`);
  }
  const [closing = ""] = match(END, page, place) ?? [];
  const end = place + closing.length;
  parts.push(page[end - 2] === "/" ? "/>" : ">");
  return { text: parts.join(""), name, end };
}

function endOfText(page: string, { name, end }: Tag): number {
  if (name === "plaintext") return page.length;
  const close = new RegExp(`</${name}[\\s/>]`, "gi");
  close.lastIndex = end;
  return close.exec(page)?.index ?? page.length;
}

/** Behind an end tag, a comment or a declaration. */
function endOfOther(page: string, at: number): number {
  const end = page.startsWith("<!--", at) ? page.indexOf("-->", at + 2) + 2 : page.indexOf(">", at);
  return end < at ? page.length : end + 1;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const ENTITIES: Readonly<Record<string, string>> = table({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" });

/** Entities that are not known here stay as they are. */
function decoded(value: string): string {
  return value.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    // The page is read byte by byte.
    return code < 0x80 ? String.fromCharCode(code) : whole;
  });
}

const CODES: Readonly<Record<string, string>> = table({
  "&": "&amp;",
  "'": "&#39;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "\r": "&#13;",
});

function encoded(value: string): string {
  return value.replace(/&(?!#?\w+;)|['<>"\r]/g, (char) => CODES[char] ?? char);
}

function lowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
