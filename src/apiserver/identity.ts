/** Who a connection belongs to, as its verified client certificate says. */
import type { Http2ServerRequest } from "node:http2";
import type { TLSSocket } from "node:tls";

const ADMIN_GROUP = "system:masters";

export function isClusterAdmin(request: Http2ServerRequest): boolean {
  const socket = request.socket as TLSSocket;
  if (!socket.authorized) return false;
  const groups: unknown = socket.getPeerCertificate().subject?.O;
  return Array.isArray(groups) ? groups.includes(ADMIN_GROUP) : groups === ADMIN_GROUP;
}
