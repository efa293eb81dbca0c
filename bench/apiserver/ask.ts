/** One request at a time, of a benchmark itself. */
import { get as httpsGet } from "node:https";
import type { Target } from "./connection.ts";

const NAMESPACE = "/api/v1/namespaces/default";

/** The revision of the newest object. */
export async function newest(target: Target): Promise<string> {
  const list = JSON.parse((await bodyOf(target, `${NAMESPACE}/configmaps?limit=1`)).toString()) as {
    metadata: { resourceVersion: string };
  };
  return list.metadata.resourceVersion;
}

export function bodyOf({ port, caPem, certPem, keyPem }: Target, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, ca: caPem, cert: certPem, key: keyPem, agent: false };
    const request = httpsGet(options, (response) => {
      response.toArray().then((chunks) => resolve(Buffer.concat(chunks as Buffer[])), reject);
    });
    request.once("error", reject);
  });
}
