/**
 * The answer of a pod, a service or a node, as the client of a proxy gets it.
 *
 * 1. Links to the same server, in HTML and in `Location`, lead through the proxy again. Relative links do so anyway.
 * 2. It grants no rights to pages of other origins: these are for this server to grant.
 * 3. A page passes as it arrives, tag by tag: it may be long, or never end.
 */
import { posix } from "node:path";
import { type Duplex, PassThrough, pipeline, type Readable } from "node:stream";
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from "node:zlib";
import { table } from "#base";
import type { Answer } from "./forward.ts";
import { HtmlLinks } from "./html-links.ts";

export interface ProxiedPath {
  /** The path of this server up to and with `proxy`. */
  readonly prefix: string;
  /** What the client and the target call the server: links to others stay. */
  readonly hosts: readonly string[];
}

/** How to decode and encode a body. Empty: it is sent as it is. */
type Coding = readonly (() => Duplex)[];

const CODINGS: Readonly<Record<string, Coding>> = table({
  "": [],
  gzip: [createGunzip, createGzip],
  deflate: [createInflateRaw, createDeflateRaw],
});

const ORIGINS = new Set(["credentials", "headers", "methods", "origin"].map((what) => `access-control-allow-${what}`));

export function proxiedAnswer(answer: Answer, path: ProxiedPath): Answer {
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !ORIGINS.has(name)));
  const { location, "content-type": type = "", "content-encoding": coding = "" } = headers;
  if (location !== undefined) return { ...answer, headers: { ...headers, location: rewriteLink(location, path) } };
  const codings = CODINGS[coding];
  if (type.split(";", 1)[0]?.trim() !== "text/html" || codings === undefined) return { ...answer, headers };
  const page = pipeline(rewritten(answer.body, codings, path), new PassThrough(), () => {});
  // A reader that leaves in the middle of a page ends what is read for it, also while nothing arrives.
  page.once("close", () => answer.body.destroy());
  return { ...answer, headers, body: page };
}

async function* rewritten(body: Readable, [decode, encode]: Coding, path: ProxiedPath): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  // No answer to HEAD has a body, and no coding of nothing.
  if (first.done === true) return;
  const sent = async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  const page = (source: AsyncIterable<Buffer>) => withLinks(source, path);
  if (decode === undefined || encode === undefined) yield* page(sent());
  // A failure of any of them fails the last one.
  else yield* pipeline(sent, decode(), page, encode(), () => {});
}

async function* withLinks(page: AsyncIterable<Buffer>, path: ProxiedPath): AsyncGenerator<Buffer> {
  const links = new HtmlLinks((url) => rewriteLink(url, path));
  // Bytes, not characters: only ASCII is looked for and written.
  for await (const chunk of page) {
    const finished = links.push(chunk.toString("latin1"));
    if (finished !== "") yield Buffer.from(finished, "latin1");
  }
  yield Buffer.from(links.end(), "latin1");
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is;

export function rewriteLink(url: string, { prefix, hosts }: ProxiedPath): string {
  const [, scheme = "", host = "", path = "", rest = ""] = URL_PARTS.exec(url) ?? [];
  if (!path.startsWith("/") || (host !== "" && !hosts.includes(host)) || (scheme !== "" && host === "")) return url;
  return (path.startsWith(prefix) ? path : posix.join(prefix, path)) + rest;
}
