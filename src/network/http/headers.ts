/**
 * The headers that endpoints and clients receive (RFC 9110).
 *
 * 1. Hop-by-hop headers are not forwarded: those that the standard names, and those that `Connection` names.
 * 2. X-Forwarded-* headers are set here. Those of the client are used only with `trustsForwarded`.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { HeaderChanges } from "./route.ts";

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);
const FORWARDED = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-real-ip",
];
const NAME = "k8ts-ingress";
/** Bounds the loop of an Ingress whose Service points back here. */
const MAX_HOPS = 5;

export interface Origin {
  readonly address: string;
  readonly protocol: "http" | "https";
  /** The local port that the client connected to. */
  readonly port: number;
  readonly host: string;
  readonly httpVersion: string;
}

export function requestHeaders(
  headers: IncomingHttpHeaders,
  origin: Origin,
  trustsForwarded: boolean,
): OutgoingHttpHeaders {
  const sent = passed(headers);
  const before = trustsForwarded ? text(headers["x-forwarded-for"]) : "";
  const claimed = (name: string, own: string) => (trustsForwarded && text(headers[name])) || own;
  for (const name of FORWARDED) if (!trustsForwarded || name !== "forwarded") delete sent[name];
  return {
    ...sent,
    host: origin.host,
    via: [text(headers.via), `${origin.httpVersion} ${NAME}`].filter(Boolean).join(", "),
    "x-forwarded-for": before === "" ? origin.address : `${before}, ${origin.address}`,
    "x-forwarded-host": claimed("x-forwarded-host", origin.host),
    "x-forwarded-proto": claimed("x-forwarded-proto", origin.protocol),
    "x-forwarded-port": claimed("x-forwarded-port", String(origin.port)),
    "x-real-ip": before === "" ? origin.address : (before.split(",")[0]?.trim() ?? origin.address),
  };
}

export function responseHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return passed(headers);
}

/** Hop-by-hop headers and content-length cannot be changed. */
export function changeHeaders(headers: OutgoingHttpHeaders, changes: readonly HeaderChanges[] = []): void {
  const open = (name: string) => !HOP_BY_HOP.has(name) && name !== "content-length";
  for (const { set = [], add = [], remove = [] } of changes) {
    for (const { name, value } of set) if (open(name.toLowerCase())) headers[name.toLowerCase()] = value;
    for (const { name, value } of add) {
      const key = name.toLowerCase();
      if (!open(key)) continue;
      const before = headers[key];
      headers[key] = before === undefined ? value : [before, value].flat().map(String);
    }
    for (const name of remove) if (open(name.toLowerCase())) delete headers[name.toLowerCase()];
  }
}

/** Whether this request has passed here too often. */
export function isLoop({ via }: IncomingHttpHeaders): boolean {
  return text(via).split(NAME).length - 1 >= MAX_HOPS;
}

function passed(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = text(headers.connection)
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const sent: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":") || HOP_BY_HOP.has(name) || named.includes(name)) continue;
    sent[name] = value;
  }
  return sent;
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : (value ?? []).join(", ");
}
