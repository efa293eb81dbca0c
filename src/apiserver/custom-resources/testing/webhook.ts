/** A conversion webhook for tests: a real server with TLS on the loopback device, that does what a test wants it to. */
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "#api";
import { realClock } from "#base";
import { type Authority, createAuthority } from "#pki";

export interface ConversionQuestion extends JsonObject {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly JsonObject[];
  };
}

/** Undefined: no answer ever comes. A text is sent as it is. */
export type Behaviour = (
  question: ConversionQuestion,
) => JsonObject | string | { readonly status: number; readonly text: string } | undefined;

export interface TestWebhook {
  readonly port: number;
  readonly url: string;
  /** For clientConfig. */
  readonly caBundle: string;
  /** What it was asked, in order. */
  readonly questions: ConversionQuestion[];
  /** The headers of the same requests. */
  readonly headers: IncomingHttpHeaders[];
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** Its certificate is for these names. */
export async function testWebhook(dnsNames: readonly string[] = ["localhost"]): Promise<TestWebhook> {
  const clock = realClock();
  const ca: Authority = await createAuthority({ commonName: "webhooks", clock });
  const { certPem, keyPem } = await ca.issue({
    commonName: "webhook",
    dnsNames,
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
  });
  const questions: ConversionQuestion[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let behaviour: Behaviour = renaming;
  const server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const question = JSON.parse(Buffer.concat(chunks).toString()) as ConversionQuestion;
    questions.push(question);
    headers.push(request.headers);
    const answer = behaviour(question);
    if (answer === undefined) return;
    if (typeof answer === "object" && typeof answer.text === "string" && typeof answer.status === "number") {
      response.writeHead(answer.status).end(answer.text);
    } else {
      response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}/convert`,
    caBundle: Buffer.from(ca.certPem).toString("base64"),
    questions,
    headers,
    behave: (next) => {
      behaviour = next;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close").catch(() => {});
    },
  };
}

export function reviewed(question: ConversionQuestion, convertedObjects: readonly JsonObject[]): JsonObject {
  return {
    kind: "ConversionReview",
    apiVersion: question.apiVersion,
    response: { uid: question.request.uid, result: { status: "Success" }, convertedObjects },
  };
}

/** v1 calls it `size`, v2 `length`. */
export const renaming: Behaviour = (question) => {
  const { objects, desiredAPIVersion } = question.request;
  return reviewed(
    question,
    objects.map((object) => {
      const { size, length, ...rest } = (object.spec ?? {}) as JsonObject;
      const value = size ?? length ?? null;
      const spec = desiredAPIVersion.endsWith("v2") ? { ...rest, length: value } : { ...rest, size: value };
      return { ...object, apiVersion: desiredAPIVersion, spec };
    }),
  );
};
