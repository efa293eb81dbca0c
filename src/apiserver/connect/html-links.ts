/**
 * Rewrites the links of an HTML page, piece by piece. It cuts the page into tags and the rest as Go's tokenizer does.
 *
 * 1. Only start tags are written anew, with quoted attributes; everything else stays as it is, byte for byte.
 * 2. Text of scripts and styles is no markup. A tag that never ends is left out.
 * 3. What is complete is returned at once: of a page, no more than one tag is kept.
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

const START_TAG = /^<[a-z]/i;
const NAME = /[a-z][^\s/>]*/iy;
const ATTRIBUTE = /[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|(?=>)|([^\s>"'][^\s>]*)))?/y;
const END = /[\s/]*>/y;

/** What passes unread, up to the place where the pattern matches. */
interface Passing {
  readonly until: RegExp;
  /** A match begins at most so many characters before what has not arrived yet. */
  readonly held: number;
}

const COMMENT: Passing = { until: /(?<=-->)/g, held: 2 };
const OTHER: Passing = { until: /(?<=>)/g, held: 0 };
const TO_THE_END: Passing = { until: /(?!)/g, held: 0 };

/** A part of the page that is read: what is written for it, where it ends, and what passes after it. */
interface Read {
  readonly text: string;
  readonly end: number;
  readonly passing?: Passing | undefined;
}

export class HtmlLinks {
  readonly #rewrite: (url: string) => string;
  /** What cannot be read before more of the page arrives. */
  #rest = "";
  #passing: Passing | undefined;

  constructor(rewrite: (url: string) => string) {
    this.#rewrite = rewrite;
  }

  /** Takes the next piece of the page, and returns what is finished. */
  push(piece: string): string {
    // Long values of attributes arrive in many pieces: a tag is read again only when it may have ended.
    const isOpenTag = this.#passing === undefined && START_TAG.test(this.#rest);
    this.#rest += piece;
    return isOpenTag && !piece.includes(">") ? "" : this.#read(false);
  }

  /** The page has no more pieces: returns the rest of it. */
  end(): string {
    return this.#read(true);
  }

  #read(isLast: boolean): string {
    const page = this.#rest;
    const parts: string[] = [];
    let at = 0;
    const copyTo = (end: number) => {
      parts.push(page.slice(at, end));
      at = end;
    };
    while (at < page.length) {
      if (this.#passing !== undefined) {
        const { until, held } = this.#passing;
        until.lastIndex = at;
        const end = until.exec(page)?.index;
        copyTo(end ?? (isLast ? page.length : Math.max(at, page.length - held)));
        if (end === undefined) break;
        this.#passing = undefined;
      }
      const start = page.indexOf("<", at);
      copyTo(start < 0 ? page.length : start);
      if (start < 0) break;
      const read = readMarkup(page, start, this.#rewrite);
      if (read === undefined) {
        if (isLast && !START_TAG.test(page.slice(start, start + 2))) copyTo(page.length);
        break;
      }
      parts.push(read.text);
      at = read.end;
      this.#passing = read.passing;
    }
    this.#rest = isLast ? "" : page.slice(at);
    return parts.join("");
  }
}

/** What begins with the `<` at `at`. Undefined: not all of it is there. */
function readMarkup(page: string, at: number, rewrite: (url: string) => string): Read | undefined {
  const next = page[at + 1];
  if (next === undefined) return undefined;
  if (/[a-z]/i.test(next)) return readTag(page, at + 1, rewrite);
  if (page.startsWith("<!--", at)) return { text: "<!", end: at + 2, passing: COMMENT };
  if ("<!--".startsWith(page.slice(at))) return undefined;
  return { text: "<", end: at + 1, passing: "/!?".includes(next) ? OTHER : undefined };
}

/** A start tag, whose name begins at `at`. Undefined: it has no end. */
function readTag(page: string, at: number, rewrite: (url: string) => string): Read | undefined {
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
  return { text: parts.join(""), end, passing: contentOf(name) };
}

function contentOf(name: string): Passing | undefined {
  if (name === "plaintext") return TO_THE_END;
  if (!TEXT_ONLY.includes(name)) return undefined;
  return { until: new RegExp(`</${name}[\\s/>]`, "gi"), held: name.length + 2 };
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
