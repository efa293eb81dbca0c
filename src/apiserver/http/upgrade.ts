/**
 * HTTP/1.1 requests with an `Upgrade` header. They pass the pipeline as all others; the answer is an ordinary one, or
 * takes over the connection.
 */
import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ApiRequest, StreamResponse } from "./exchange.ts";
import { Http1Outlet } from "./outlets.ts";
import type { Outlet } from "./send.ts";

export interface UpgradeOutlet {
  readonly outlet: Outlet;
  /** Hands the connection over; resolves when it has ended. */
  takeOver(answer: StreamResponse): Promise<void>;
}

/** `head`: the first bytes of the other protocol, which arrived with the request. */
export function upgradeOutlet(request: IncomingMessage, socket: Socket, head: Buffer): UpgradeOutlet {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.end());
  return {
    outlet: new Http1Outlet(response),
    async takeOver({ status, headers, upgrade }) {
      response.detachSocket(socket);
      if (head.length > 0) socket.unshift(head);
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.write(headOf(status, headers));
      await upgrade?.(socket);
    },
  };
}

/**
 * Calls `go` when the answer before an upgrade has left the connection. Clients reuse a connection as soon as they have
 * read an answer, which may be before this side knows that it was written. One that does not even wait for the answer
 * has asked for two protocols at once: its connection is closed.
 */
export function afterAnswer(previous: ServerResponse | undefined, socket: Socket, go: () => void): void {
  // Node has taken its own listener away. A reset by the client would be an uncaught error.
  socket.on("error", () => {});
  if (previous === undefined || (previous.writableFinished && previous.socket === null)) go();
  else if (previous.writableEnded) previous.once("close", () => socket.destroyed || go());
  else socket.destroy();
}

export function takesOver(
  answer: object,
  request: ApiRequest,
): answer is StreamResponse & Required<Pick<StreamResponse, "upgrade">> {
  return request.isUpgrade === true && "upgrade" in answer && answer.upgrade !== undefined;
}

function headOf(status: number, headers: StreamResponse["headers"]): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => `${name}: ${one}`),
  );
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, ...lines, "", ""].join("\r\n");
}
