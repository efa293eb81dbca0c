/**
 * Where a request may have a bearer token: in the Authorization header, or as a subprotocol of a WebSocket, for
 * browsers, which cannot set headers.
 */
import type { ApiRequest } from "../http/exchange.ts";
import { isTokenProtocol, splitProtocols, TOKEN_PROTOCOL_PREFIX } from "../http/token-protocol.ts";

const EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored";

export type Presented =
  | { readonly token: string }
  | { readonly warning: string }
  | { readonly error: string }
  | undefined;

export function authorizationToken({ headers: { authorization = "" } }: ApiRequest): Presented {
  const [scheme = "", token, more] = authorization.trim().split(" ");
  if (scheme.toLowerCase() !== "bearer" || token === undefined) return undefined;
  if (token !== "") return { token };
  return more === undefined ? undefined : { warning: EXTRA_SPACE };
}

export function websocketToken({ headers }: ApiRequest): Presented {
  if (headers.upgrade?.toLowerCase() !== "websocket") return undefined;
  const protocols = protocolsOf(headers);
  const [encoded, ...more] = protocols
    .filter(isTokenProtocol)
    .map((protocol) => protocol.slice(TOKEN_PROTOCOL_PREFIX.length));
  if (encoded === undefined) return undefined;
  if (more.length > 0) return { error: "multiple base64.bearer.authorization tokens specified" };
  if (!/^[A-Za-z0-9_-]*$/.test(encoded)) return { error: "invalid base64.bearer.authorization token encoding" };
  const token = Buffer.from(encoded, "base64url").toString("utf8");
  if (token === "") return undefined;
  if (token.includes("\uFFFD")) return { error: "invalid base64.bearer.authorization token" };
  return protocols.length === 1 ? { error: "missing additional subprotocol" } : { token };
}

function protocolsOf(headers: ApiRequest["headers"]): string[] {
  return splitProtocols(headers["sec-websocket-protocol"] ?? "");
}
