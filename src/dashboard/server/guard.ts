/**
 * Which requests are from the dashboard's own page. A name that was bent to loopback (DNS rebinding) is not one of ours; what another page sends or opens
 * (CSRF, a WebSocket from elsewhere) has another origin.
 */
import type { IncomingHttpHeaders } from "node:http";

const NAMES = ["127.0.0.1", "localhost", "[::1]"];

export interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly isUpgrade?: boolean;
}

/** Why a request is refused, or undefined. */
export function refusal({ method, headers, isUpgrade = false }: Asked, port: number): string | undefined {
  const hosts = NAMES.map((name) => `${name}:${port}`);
  if (!hosts.includes(headers.host ?? "")) return "The dashboard answers only to its own address.";
  const { origin } = headers;
  const isOwn = origin === undefined ? undefined : origin === `http://${headers.host}`;
  if (isOwn === false) return "The dashboard takes no requests from other pages.";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isPageVisit(method, headers)) {
    return "The dashboard takes no requests from other pages.";
  }
  // A browser names the origin of everything that could change something, and of every WebSocket.
  if (isOwn === undefined && (isUpgrade || (method !== "GET" && method !== "HEAD"))) {
    return "The dashboard takes such requests only from its own page.";
  }
  return undefined;
}

/** A link that was followed from elsewhere: it brings no cookie along, and shows nothing without one. */
function isPageVisit(method: string, headers: IncomingHttpHeaders): boolean {
  return method === "GET" && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

export function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const part of (headers.cookie ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}
