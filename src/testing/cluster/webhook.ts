/**
 * A function of the test as a webhook: on a port of loopback, which only API servers with its `clientConfig` know.
 *
 * 1. Admission: the function gets the request of an AdmissionReview. Conversion: that of a ConversionReview. What it
 *    returns becomes the response; the uid is filled in.
 * 2. What it throws is answered with 500, as a crashing webhook would.
 */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "#api";
import { realClock } from "#base";
import { createAuthority } from "#pki";

export interface Webhook extends AsyncDisposable {
  /** For webhook configurations and the conversion of CustomResourceDefinitions. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  close(): Promise<void>;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: JsonObject & { readonly uid: string };
}

const HOST = "127.0.0.1";

export async function serveWebhook(
  answer: (request: JsonObject) => JsonObject | Promise<JsonObject>,
): Promise<Webhook> {
  const authority = await createAuthority({ commonName: "k8ts-testing-webhook", clock: realClock() });
  const { certPem: cert, keyPem: key } = await authority.issue({
    commonName: "webhook",
    ipAddresses: [HOST],
    usages: ["server"],
  });
  const server = createServer({ cert, key }, async (request, response) => {
    try {
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk;
      const { apiVersion, kind, request: asked } = JSON.parse(text) as Review;
      const answered = { uid: asked.uid, ...(await answer(asked)) };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ apiVersion, kind, response: answered }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return {
    clientConfig: { url: `https://${HOST}:${port}/`, caBundle: Buffer.from(authority.certPem).toString("base64") },
    close,
    [Symbol.asyncDispose]: close,
  };
}
