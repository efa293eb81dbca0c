/** JSON to another server; whatever it answers is fine if its code is. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Clock } from "#base";
import type { KubeconfigConnection } from "#pki";

const TIMEOUT_MS = 30_000;

export interface PostBytes {
  /** Throws unless it was taken. */
  send(body: Buffer): Promise<void>;
  close(): void;
}

/** Connections are kept between requests; `close` ends them. */
export function postBytes(target: KubeconfigConnection, clock: Clock): PostBytes {
  const url = new URL(target.server);
  const secure = url.protocol === "https:";
  const { caPem, client, tlsServerName, insecureSkipTlsVerify } = target;
  const tls = {
    ...(caPem !== undefined && { ca: caPem }),
    ...(client !== undefined && "certPem" in client && { cert: client.certPem, key: client.keyPem }),
    ...(tlsServerName !== undefined && { servername: tlsServerName }),
    rejectUnauthorized: !insecureSkipTlsVerify,
  };
  const agent = secure ? new HttpsAgent({ keepAlive: true, ...tls }) : new HttpAgent({ keepAlive: true });
  const identity = client !== undefined && "token" in client ? { authorization: `Bearer ${client.token}` } : {};
  return {
    close: () => agent.destroy(),
    send: async (body) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const headers = { ...identity, "content-type": "application/json", "content-length": String(body.length) };
      const outgoing = (secure ? httpsRequest : httpRequest)(url, { method: "POST", agent, headers });
      const deadline = clock.timer(TIMEOUT_MS, () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      outgoing.once("error", reject);
      outgoing.once("response", (response) => {
        response.resume();
        response.once("error", reject);
        response.once("end", () => resolve(response.statusCode ?? 0));
      });
      outgoing.end(body);
      const status = await promise.finally(() => deadline.cancel());
      if (status < 200 || status > 299) throw new Error(`the audit webhook answered with HTTP status ${status}`);
    },
  };
}
