/**
 * GET /logs/PATH: the log files of the node, and lists of its directories, as Go's file server shows them.
 *
 * 1. No path leads out of the directory, except where a link in it does.
 * 2. A directory ends with a slash, a file does not: other paths are redirected, so that relative links are right.
 */

import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { table } from "#base";
import { type Answer, type Ask, Refusal } from "../exchange.ts";

const PREFIX = "/logs";

export async function nodeLogs(root: string, { path, method }: Pick<Ask, "path" | "method">): Promise<Answer> {
  const below = decodeURIComponent(path.slice(PREFIX.length));
  if (below === "") return redirect("/logs/");
  const parts = below.split("/").filter((part) => part !== "");
  if (parts.includes("..") || below.includes("\0")) throw new Refusal(400, "invalid URL path\n");
  const file = join(root, ...parts);
  const found = await stat(file).catch((cause: unknown) => {
    throw new Refusal(404, "404 page not found\n", { cause });
  });
  const last = encodeURIComponent(parts.at(-1) ?? "");
  if (found.isDirectory()) return below.endsWith("/") ? await directory(file) : redirect(`${last}/`);
  if (below.endsWith("/")) return redirect(`../${last}`);
  const headers = {
    "content-type": file.endsWith(".gz") ? "application/gzip" : "text/plain; charset=utf-8",
    "content-length": String(found.size),
    "last-modified": found.mtime.toUTCString(),
  };
  // A log grows while it is read.
  const body = method === "HEAD" || found.size === 0 ? "" : createReadStream(file, { end: found.size - 1 });
  return { status: 200, headers, body };
}

function redirect(location: string): Answer {
  return { status: 301, headers: { location }, body: "" };
}

async function directory(path: string): Promise<Answer> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const lines = names.map((name) => `<a href="${link(name)}">${escaped(name)}</a>\n`);
  const body = `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join("")}</pre>\n`;
  return { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

/** A colon in the first part of a relative link would end a scheme. */
function link(name: string): string {
  const path = name.split("/").map(encodeURIComponent).join("/");
  return name.includes(":") ? `./${path}` : path;
}

const CODES: Readonly<Record<string, string>> = table({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
});

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => CODES[char] ?? char);
}
