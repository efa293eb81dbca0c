/** Posts JSON to the audit webhook. Only the status of the answer counts. */
import { type Clock, type Dial, HttpClient } from "#base";
import { httpCredentials, type KubeconfigConnection } from "#pki";

const TIMEOUT_MS = 30_000;
/** Bodies of answers are not used. */
const READ_BYTES = 64 * 1024;

export interface PostBytes {
  /** Throws unless the webhook has accepted it. */
  send(body: Buffer): Promise<void>;
  close(): void;
}

export function postBytes(target: KubeconfigConnection, clock: Clock, dial?: Dial): PostBytes {
  const { tls, headers } = httpCredentials(target);
  const url = new URL(target.server);
  const limits = { timeoutMs: TIMEOUT_MS, maxResponseBytes: READ_BYTES, longer: "cut" } as const;
  const client = new HttpClient({ clock, ...limits, tls, dial });
  return {
    close: () => client.close(),
    send: async (body) => {
      const result = await client.send({
        url,
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
      if (!result.ok)
        throw result.reason === "deadline" ? new Error(`no answer within ${TIMEOUT_MS} ms`) : result.cause;
      const { status } = result;
      if (status < 200 || status > 299) throw new Error(`the audit webhook answered with HTTP status ${status}`);
    },
  };
}
