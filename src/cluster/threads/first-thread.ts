/** The first thread, as another serving thread sees it. */
import type { MessagePort } from "node:worker_threads";
import type { ApiRequest, ApiResponse, LocalExtension, LocalExtensions } from "#apiserver";
import type { Logger } from "#base";
import type { FlowRecord } from "#flows";
import type { ServingPki } from "../config/serving-pki.ts";
import { forward } from "./forwarding.ts";
import type { FromThread, ToThread } from "./protocol.ts";
import { threadLog } from "./thread-log.ts";

type Answer = Extract<ToThread, { readonly type: "answer" }>;

export interface FirstThreadEvents {
  renewed(pki: ServingPki): void;
  metrics(): string;
  stop(): void;
}

export class FirstThread {
  readonly log: Logger;
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #ids = 0;

  constructor(port: MessagePort, verbosity: number) {
    this.#port = port;
    this.log = threadLog((message) => this.#send(message), verbosity);
  }

  listen({ renewed, metrics, stop }: FirstThreadEvents): void {
    this.#port.on("message", (message: ToThread) => {
      if (message.type === "renew") renewed(message.pki);
      else if (message.type === "metrics") this.#send({ type: "metrics", id: message.id, text: metrics() });
      else if (message.type === "stop") stop();
      else {
        this.#waiting.get(message.id)?.(message);
        this.#waiting.delete(message.id);
      }
    });
  }

  serving(): void {
    this.#send({ type: "serving" });
  }

  failed(error: unknown): void {
    this.#send({ type: "failed", why: (error as Error).message });
  }

  records(records: readonly FlowRecord[]): void {
    this.#send({ type: "records", records });
  }

  close(): void {
    this.#port.close();
  }

  answer(request: ApiRequest): Promise<ApiResponse> {
    return forward(request, (forwarded, port) =>
      this.#port.postMessage({ type: "request", request: forwarded, port } satisfies FromThread, [port]),
    );
  }

  /** Resolves when the first thread has written them, or taken them over in mode `batch`. */
  async writeAuditLines(lines: readonly Buffer[]): Promise<void> {
    const { error } = await this.#asked((id) => ({
      type: "audit",
      id,
      lines: lines.map((line) => Uint8Array.from(line)),
    }));
    if (error !== undefined) throw new Error(error);
  }

  /** Extension servers of the first thread, by their names. */
  extensions(names: readonly string[]): LocalExtensions {
    const ask =
      (name: string): LocalExtension =>
      async ({ method, path, accept }) => {
        const { value, error } = await this.#asked((id) => ({
          type: "ask",
          id,
          name,
          value: { method, path, accept },
        }));
        if (error !== undefined) throw new Error(error);
        const answer = value as Awaited<ReturnType<LocalExtension>>;
        return { ...answer, body: Buffer.from(answer.body) };
      };
    return new Map(names.map((name) => [name, ask(name)]));
  }

  #asked(question: (id: number) => FromThread): Promise<Answer> {
    const id = ++this.#ids;
    this.#send(question(id));
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
    });
  }

  #send(message: FromThread): void {
    this.#port.postMessage(message);
  }
}
