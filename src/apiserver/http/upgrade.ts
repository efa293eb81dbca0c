/**
 * Requests of HTTP/1.1 that ask to go on in another protocol: they pass the pipeline as all others do. What comes out
 * is an ordinary answer, or takes over the connection.
 */
import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ApiRequest, StreamResponse } from "./exchange.ts";
import { Http1Outlet } from "./outlets.ts";
import type { Outlet } from "./send.ts";

export interface UpgradeOutlet {
  readonly outlet: Outlet;
  /** Hands the connection over; resolves when it has been used up. */
  takeOver(answer: StreamResponse): Promise<void>;
}

/** `head`: what came with the request that is part of the other protocol already. */
export function upgradeOutlet(request: IncomingMessage, socket: Socket, head: Buffer): UpgradeOutlet {
  // Without a listener, a caller's reset would be an uncaught error; its end is seen as `close`.
  socket.on("error", () => {});
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
