/** Requests that commands send to a running cluster, as its admin. */

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { ClusterError, type DataDir } from "#cluster";
import { runningServer } from "./running-server.ts";

const TIMEOUT_MS = 10_000;

/** The response, whatever its status, with its body unread. */
export async function askServer(dir: DataDir, path: string): Promise<IncomingMessage> {
  const { server, caPem, client } = await runningServer(dir);
  const agent = new Agent({ keepAlive: false });
  const credentials = client !== undefined && "certPem" in client ? { cert: client.certPem, key: client.keyPem } : {};
  const call = request(new URL(path, server), { agent, ca: caPem, ...credentials, timeout: TIMEOUT_MS });
  call.once("timeout", () => call.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
  call.end();
  try {
    const [response] = (await once(call, "response")) as [IncomingMessage];
    return response;
  } catch (error) {
    throw new ClusterError(`The API server at ${server} does not respond: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

export async function bodyText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}
