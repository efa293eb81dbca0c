/** Browsers cannot set headers when they open a WebSocket: they send a bearer token as one of its subprotocols. */

export const TOKEN_PROTOCOL_PREFIX = "base64url.bearer.authorization.k8s.io.";

/** The subprotocols without the token: it must not be echoed or passed on. */
export function withoutTokenProtocol(protocols: string): string {
  if (!protocols.includes(TOKEN_PROTOCOL_PREFIX)) return protocols;
  return splitProtocols(protocols)
    .filter((protocol) => !isTokenProtocol(protocol))
    .join(",");
}

export function splitProtocols(header: string): string[] {
  return header.split(",").map((protocol) => protocol.trim());
}

export function isTokenProtocol(protocol: string): boolean {
  return protocol.startsWith(TOKEN_PROTOCOL_PREFIX);
}
