/**
 * Between HTTP and the pipeline: a request as a value in, an answer as bytes out.
 *
 *     HTTP/1.1 request ──► ┐                                                 ┌ ──► response
 *                          ├ ApiRequest ──► pipeline ──► ApiResponse ──► ────┤
 *     HTTP/2 stream    ──► ┘                                                 └ ──► stream, or the connection itself
 *
 * 1. HTTP/1.1 is Node's, HTTP/2 is our own: see `../http2`.
 * 2. A client that disconnects is not an error. Every other failure here is logged once and ends that one answer.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { andThen, type Logger } from "#base";
import type { Http2Stream } from "../http2/index.ts";
import { ConnectionCertificates } from "./connection-certificates.ts";
import type { ApiRequest, ApiResponse, Handle } from "./exchange.ts";
import { apiRequest } from "./network-request.ts";
import { Http1Outlet, Http2Outlet } from "./outlets.ts";
import { type Outlet, send } from "./send.ts";
import { afterAnswer, takesOver, type UpgradeOutlet, upgradeOutlet } from "./upgrade.ts";

export interface HttpHandlers {
  http1(request: IncomingMessage, response: ServerResponse): void;
  /** An HTTP/1.1 request with an `Upgrade` header. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  http2(stream: Http2Stream, socket: TLSSocket): void;
}

export function httpHandlers(handle: Handle, log: Logger): HttpHandlers {
  const certificates = new ConnectionCertificates();

  const failed = (request: ApiRequest, outlet: Outlet, error: unknown) => {
    if (!outlet.gone) log.error("an answer could not be sent", { path: request.path, error });
    outlet.destroy();
  };

  const late = async (answering: Promise<unknown>, request: ApiRequest, outlet: Outlet) => {
    try {
      await answering;
    } catch (error) {
      failed(request, outlet, error);
    }
  };

  const deliver = (
    given: ApiResponse,
    request: ApiRequest,
    outlet: Outlet,
    takeOver?: UpgradeOutlet["takeOver"],
  ): Promise<void> | undefined =>
    takeOver !== undefined && takesOver(given, request) ? takeOver(given) : send(given, request, outlet);

  /** Most requests are answered and sent before it returns. */
  const answer = (request: ApiRequest, outlet: Outlet, takeOver?: UpgradeOutlet["takeOver"]): void => {
    try {
      const sending = andThen(handle(request), (response) => deliver(response, request, outlet, takeOver));
      if (sending !== undefined) void late(sending, request, outlet);
    } catch (error) {
      failed(request, outlet, error);
    }
  };

  /** The last one of each connection. */
  const answers = new WeakMap<Socket, ServerResponse>();

  return {
    http1: (request, response) => {
      const { method = "GET", url = "/", headers, rawHeaders, socket } = request;
      const certificate = certificates.of(socket as TLSSocket);
      const asked = apiRequest({
        method,
        target: url,
        headers,
        rawHeaders,
        source: request,
        peer: response,
        connection: socket,
        certificate,
      });
      answers.set(socket, response);
      answer(asked, new Http1Outlet(response));
    },
    upgrade: (request, connection, head) => {
      const socket = connection as TLSSocket;
      const { method = "GET", url = "/", headers, rawHeaders } = request;
      const certificate = certificates.of(socket);
      const asked = apiRequest({
        method,
        target: url,
        headers,
        rawHeaders,
        source: request,
        peer: socket,
        connection: socket,
        certificate,
        isUpgrade: true,
      });
      afterAnswer(answers.get(socket), socket, () => {
        const { outlet, takeOver } = upgradeOutlet(request, socket, head);
        answer(asked, outlet, takeOver);
      });
    },
    http2: (stream, socket) => {
      const { fields: headers, list: rawHeaders, body: source } = stream;
      const { ":method": method = "GET", ":path": target = "/" } = headers;
      const certificate = certificates.of(socket);
      const asked = apiRequest({
        method,
        target,
        headers,
        rawHeaders,
        source,
        peer: stream,
        connection: socket,
        certificate,
      });
      answer(asked, new Http2Outlet(stream));
    },
  };
}
