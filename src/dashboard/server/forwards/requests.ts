/**
 * `forwards`: GET lists them, POST opens one, DELETE `forwards/<id>` closes it.
 *
 * 1. A request that is not understood opens nothing.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerStatus } from "../proxy.ts";
import { type ApiServer, RefusedByServer, textOf } from "../upstream.ts";
import type { Forwards } from "./forwards.ts";
import type { Destination } from "./target.ts";

const MAX_BODY = 4096;

export async function answerForwards(
  forwards: Forwards,
  api: () => Promise<ApiServer>,
  below: string,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method } = message;
  const id = /^\/forwards\/(\d+)$/.exec(below)?.[1];
  try {
    if (id !== undefined && method === "DELETE") {
      if (await forwards.close(Number(id))) return answer(response, 200, {});
      return answerStatus(response, 404, "NotFound", "This port is not forwarded any more.");
    }
    if (id === undefined && method === "GET") return answer(response, 200, { items: forwards.list() });
    if (id === undefined && method === "POST") {
      const { localPort, ...destination } = askedIn(await textOf(message, MAX_BODY));
      return answer(response, 201, await forwards.open(await api(), destination, localPort));
    }
    return answerStatus(response, 405, "MethodNotAllowed", `Forwards have no ${method}.`);
  } catch (error) {
    const { code, reason, message: words } = error as RefusedByServer;
    if (error instanceof RefusedByServer) return answerStatus(response, code, reason, words);
    answerStatus(response, 502, "BadGateway", words);
  }
}

function answer(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function askedIn(text: string): Destination & { readonly localPort: number } {
  const { resource, namespace, name, port, localPort = 0 } = objectIn(text);
  const wrong = (words: string) => new RefusedByServer(400, "BadRequest", words);
  if (resource !== "pods" && resource !== "services") throw wrong("Ports of Pods and Services can be forwarded.");
  if (typeof namespace !== "string" || namespace === "" || typeof name !== "string" || name === "")
    throw wrong("A namespace and a name are needed.");
  if (!isPort(port) || port === 0) throw wrong("A port is a number from 1 to 65535.");
  if (!isPort(localPort)) throw wrong("A port of this machine is a number from 1 to 65535, or 0 for a free one.");
  return { resource, namespace, name, port, localPort };
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 65535;
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {}; // refused by the caller, who misses its fields
  }
}
