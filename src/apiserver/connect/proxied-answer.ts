/**
 * The answer of a pod, a service or a node, as the client of a proxy gets it.
 *
 * 1. Links to the same server, in HTML and in `Location`, lead through the proxy again. Relative links do so anyway.
 * 2. It grants no rights to pages of other origins: these are for this server to grant.
 */
import { posix } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { deflateRaw, gunzip, gzip, inflateRaw } from "node:zlib";
import type { Answer } from "./forward.ts";
import { rewriteHtml } from "./html-links.ts";

export interface ProxiedPath {
  /** The path of this server up to and with `proxy`. */
  readonly prefix: string;
  /** What the client and the target call the server: links to others stay. */
  readonly hosts: readonly string[];
}

const CODINGS: Readonly<Record<string, readonly ((bytes: Buffer) => Promise<Buffer>)[]>> = {
  "": [],
  gzip: [promisify<Buffer, Buffer>(gunzip), promisify<Buffer, Buffer>(gzip)],
  deflate: [promisify<Buffer, Buffer>(inflateRaw), promisify<Buffer, Buffer>(deflateRaw)],
};

const ORIGINS = new Set(["credentials", "headers", "methods", "origin"].map((what) => `access-control-allow-${what}`));

export function proxiedAnswer(answer: Answer, path: ProxiedPath): Answer {
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !ORIGINS.has(name)));
  const { location, "content-type": type = "", "content-encoding": coding = "" } = headers;
  if (location !== undefined) return { ...answer, headers: { ...headers, location: rewriteLink(location, path) } };
  const codings = CODINGS[coding];
  if (type.split(";", 1)[0]?.trim() !== "text/html" || codings === undefined) return { ...answer, headers };
  return { ...answer, headers, body: Readable.from(rewritten(answer.body, codings, path)) };
}

async function* rewritten(
  body: Readable,
  [decode, encode]: readonly ((bytes: Buffer) => Promise<Buffer>)[],
  path: ProxiedPath,
): AsyncGenerator<Buffer> {
  const sent = await buffer(body);
  if (sent.length === 0) return;
  const page = decode === undefined ? sent : await decode(sent);
  // Bytes, not characters: only ASCII is looked for and written.
  const changed = Buffer.from(
    rewriteHtml(page.toString("latin1"), (url) => rewriteLink(url, path)),
    "latin1",
  );
  yield encode === undefined ? changed : await encode(changed);
}

const URL_PARTS = /^([a-z][a-z0-9+.-]*:)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is;

export function rewriteLink(url: string, { prefix, hosts }: ProxiedPath): string {
  const [, scheme = "", host = "", path = "", rest = ""] = URL_PARTS.exec(url) ?? [];
  if (!path.startsWith("/") || (host !== "" && !hosts.includes(host)) || (scheme !== "" && host === "")) return url;
  return (path.startsWith(prefix) ? path : posix.join(prefix, path)) + rest;
}
