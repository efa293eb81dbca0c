/**
 * Decides which requests come from the dashboard's own page. DNS rebinding is detected by Host, requests and WebSockets
 * of other pages (CSRF) by Origin.
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
  if (!hosts.includes(headers.host ?? "")) return "Requests must use the dashboard's own address.";
  const { origin } = headers;
  const isOwn = origin === undefined ? undefined : origin === `http://${headers.host}`;
  if (isOwn === false) return "Requests from other pages are refused.";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none" && !isPageVisit(method, headers)) {
    return "Requests from other pages are refused.";
  }
  // Browsers send Origin with all unsafe methods, and with every WebSocket.
  if (isOwn === undefined && (isUpgrade || (method !== "GET" && method !== "HEAD"))) {
    return "This request is accepted only from the dashboard's own page.";
  }
  return undefined;
}

/** A followed link from another page: it carries no cookie, and shows nothing without one. */
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
