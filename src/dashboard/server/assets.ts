/** The page's files as built: browsers cache files with hashed names, but not the page itself. */

import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { table } from "#base";
import { secret } from "./sessions.ts";

const TYPES: Readonly<Record<string, string>> = table({
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
});

/** On every response: nothing from other hosts, no framing, no content sniffing. */
export const SAFE_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

export async function sendPage(dir: string, response: ServerResponse): Promise<void> {
  const html = await readFile(join(dir, "index.html"), "utf8").catch(() => undefined);
  if (html === undefined) {
    response.writeHead(500, { "content-type": "text/plain" }).end("The dashboard's files are missing: rebuild them.");
    return;
  }
  // The terminal creates style sheets, with this page's nonce.
  const nonce = secret();
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  });
  response.end(html.replace("{{nonce}}", nonce));
}

export async function sendAsset(dir: string, name: string, response: ServerResponse): Promise<void> {
  const type = TYPES[extname(name)];
  const bytes = type === undefined || !/^[\w.-]+$/.test(name) ? undefined : await read(join(dir, name));
  if (type === undefined || bytes === undefined) {
    response.writeHead(404, { "content-type": "text/plain" }).end("File not found.");
    return;
  }
  response.writeHead(200, { "content-type": type, "cache-control": "private, max-age=31536000, immutable" });
  response.end(bytes);
}

async function read(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch {
    return undefined; // 404
  }
}
