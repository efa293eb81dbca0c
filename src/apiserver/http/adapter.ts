/**
 * Between Node's HTTP servers and the pipeline: a request as a value in, an answer as bytes out.
 *
 *     HTTP/1.1 request ──► ┐                                                 ┌ ──► response
 *                          ├ ApiRequest ──► pipeline ──► ApiResponse ──► ────┤
 *     HTTP/2 stream    ──► ┘                                                 └ ──► stream
 *
 * 1. HTTP/2 is spoken on Node's streams themselves: its layer that looks like HTTP/1.1 costs more than a whole answer does.
 * 2. A caller that has gone is no error. Whatever else goes wrong here is logged once, and ends that one answer.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Logger } from "#base";
import type { Handle } from "../pipeline.ts";
import { CertificateUsers } from "./certificate-users.ts";
import type { ApiRequest } from "./exchange.ts";
import { apiRequest } from "./network-request.ts";
import { type Outlet, send } from "./send.ts";

export interface HttpHandlers {
  http1(request: IncomingMessage, response: ServerResponse): void;
  http2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void;
}

export function httpHandlers(handle: Handle, log: Logger): HttpHandlers {
  const users = new CertificateUsers();

  const answer = async (request: ApiRequest, outlet: Outlet) => {
    try {
      await send(await handle(request), request, outlet);
    } catch (error) {
      if (!outlet.gone) log.error("an answer could not be sent", { path: request.path, error });
      outlet.destroy();
    }
  };

  return {
    http1: (request, response) => {
      const { method = "GET", url = "/", headers, socket } = request;
      const user = users.of(socket, () => socket as TLSSocket);
      const asked = apiRequest({ method, target: url, headers, source: request, peer: response, user });
      void answer(asked, http1Outlet(response));
    },
    http2: (stream, headers) => {
      // Without a listener, a caller's reset would be an uncaught error; its end is seen as `close`.
      stream.on("error", () => {});
      const { session } = stream;
      if (session === undefined) return;
      const { ":method": method = "GET", ":path": target = "/" } = headers;
      const user = users.of(session, () => session.socket as TLSSocket);
      void answer(apiRequest({ method, target, headers, source: stream, peer: stream, user }), http2Outlet(stream));
    },
  };
}

function http1Outlet(response: ServerResponse): Outlet {
  return {
    get gone() {
      return response.destroyed;
    },
    head: (status, headers) => void response.writeHead(status, headers as OutgoingHttpHeaders),
    flushHead: () => response.flushHeaders(),
    write: (bytes) => {
      response.write(bytes);
      return response.writableLength;
    },
    written: (bytes) => new Promise((resolve) => response.write(bytes, (error) => resolve(!error))),
    end: (bytes) => void response.end(bytes),
    destroy: () => void response.destroy(),
  };
}

function http2Outlet(stream: ServerHttp2Stream): Outlet {
  return {
    get gone() {
      return stream.destroyed || stream.closed;
    },
    head: (status, headers) => stream.respond({ ":status": status, ...(headers as OutgoingHttpHeaders) }),
    flushHead: () => {},
    write: (bytes) => {
      stream.write(bytes);
      return stream.writableLength;
    },
    written: (bytes) => new Promise((resolve) => stream.write(bytes, (error) => resolve(!error))),
    end: (bytes) => void stream.end(bytes),
    destroy: () => void stream.destroy(),
  };
}
