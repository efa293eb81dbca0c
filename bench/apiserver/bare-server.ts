/**
 * What Node can do at best on this machine: an HTTPS server that answers every request with the same bytes and does
 * nothing else.
 */
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface BareServerOptions {
  readonly protocol: "http/1.1" | "h2";
  readonly certPem: string;
  readonly keyPem: string;
  readonly caPem: string;
  /** In base64. */
  readonly body: string;
}

// Whoever started it may end without a word.
process.once("disconnect", () => process.exit());
process.once("message", ({ protocol, certPem, keyPem, caPem, body }: BareServerOptions) => {
  const tls = { cert: certPem, key: keyPem, ca: caPem, requestCert: true };
  const bytes = Buffer.from(body, "base64");
  const headers = { "content-type": "application/json", "content-length": bytes.length };
  const server = protocol === "h2" ? createSecureServer(tls) : createServer(tls);
  if (protocol === "h2") {
    server.on("stream", (stream: import("node:http2").ServerHttp2Stream) => {
      stream.respond({ ":status": 200, ...headers });
      stream.end(bytes);
    });
  } else {
    server.on("request", (_request, response: import("node:http").ServerResponse) => {
      response.writeHead(200, headers);
      response.end(bytes);
    });
  }
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
});
