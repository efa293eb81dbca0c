/**
 * One serving thread, as the first thread sees it, from its start until its end.
 *
 * 1. What it asks is answered; what it reports is passed on. Nothing that it does can fail the first thread.
 * 2. `ended` resolves when the thread has gone, by itself or not, with why.
 */
import { MessageChannel, Worker } from "node:worker_threads";
import type { Handle, LocalExtensions, WriteLines } from "#apiserver";
import type { Logger } from "#base";
import type { Recorder } from "#flows";
import type { StoreHost } from "#store";
import type { ServingPki } from "../config/serving-pki.ts";
import { answerForwarded } from "./forwarding.ts";
import type { FromThread, ThreadData, ToThread } from "./protocol.ts";
import { verbosityOf, writeRecord } from "./thread-log.ts";

/** A source file in the folder above, or an entry of its own in the bundle. */
const THREAD = new URL(
  import.meta.url.endsWith(".ts") ? "../serving-thread.ts" : "./serving-thread.mjs",
  import.meta.url,
);

export interface ThreadHostOptions {
  readonly data: Omit<ThreadData, "store" | "first" | "verbosity">;
  readonly store: StoreHost;
  readonly handle: Handle;
  readonly extensions: LocalExtensions;
  readonly recorder: Recorder | undefined;
  readonly writeAuditLines: WriteLines | undefined;
  readonly log: Logger;
}

export class HostedThread {
  readonly ended: Promise<unknown>;
  readonly serving: Promise<void>;
  readonly #worker: Worker;
  readonly #options: ThreadHostOptions;
  readonly #port;
  readonly #metrics = new Map<number, (text: string | undefined) => void>();
  #ids = 0;
  #isServing = false;

  constructor(options: ThreadHostOptions, name: string) {
    this.#options = options;
    const { store, data, log } = options;
    const [stored, first] = [new MessageChannel(), new MessageChannel()];
    const workerData: ThreadData = { ...data, verbosity: verbosityOf(log), store: stored.port2, first: first.port2 };
    this.#port = first.port1;
    this.#worker = new Worker(THREAD, { workerData, transferList: [stored.port2, first.port2], name });
    const ended = Promise.withResolvers<unknown>();
    const serving = Promise.withResolvers<void>();
    this.ended = ended.promise;
    this.serving = serving.promise;
    this.serving.catch(() => {});
    let why: unknown = new Error("it ended");
    this.#worker.on("error", (error) => {
      why = error;
    });
    this.#worker.once("exit", () => {
      this.#isServing = false;
      for (const answer of this.#metrics.values()) answer(undefined);
      serving.reject(why);
      ended.resolve(why);
    });
    this.#port.on("message", (message: FromThread) => {
      if (message.type === "serving") {
        this.#isServing = true;
        serving.resolve();
      } else if (message.type === "failed") why = new Error(message.why);
      else this.#told(message);
    });
    this.#port.unref();
    void store.attach(stored.port1);
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  renew(pki: ServingPki): void {
    this.#send({ type: "renew", pki });
  }

  /** Its metrics as text; undefined if it has gone. */
  metrics(): Promise<string | undefined> {
    const id = ++this.#ids;
    return new Promise((resolve) => {
      this.#metrics.set(id, resolve);
      this.#send({ type: "metrics", id });
    });
  }

  /** Asks it to stop as a server stops. */
  stop(): void {
    this.#isServing = false;
    this.#send({ type: "stop" });
  }

  /** Ends it, whatever it does. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #told(message: Exclude<FromThread, { readonly type: "serving" | "failed" }>): void {
    const { log, recorder, handle } = this.#options;
    switch (message.type) {
      case "log":
        writeRecord(log, message);
        return;
      case "records":
        recorder?.restore(message.records);
        return;
      case "metrics":
        this.#metrics.get(message.id)?.(message.text);
        this.#metrics.delete(message.id);
        return;
      case "request":
        void answerForwarded(message.request, message.port, handle);
        return;
      case "audit":
        void this.#writeAudit(message);
        return;
      case "ask":
        void this.#answer(message);
    }
  }

  async #answer({ id, name, value }: Extract<FromThread, { readonly type: "ask" }>): Promise<void> {
    const extension = this.#options.extensions.get(name);
    try {
      if (extension === undefined) throw new Error(`there is no ${name} here`);
      const answer = await extension(value as Parameters<typeof extension>[0]);
      this.#send({ type: "answer", id, value: { ...answer, body: Uint8Array.from(answer.body) } });
    } catch (error) {
      this.#send({ type: "answer", id, error: (error as Error).message });
    }
  }

  async #writeAudit({ id, lines }: Extract<FromThread, { readonly type: "audit" }>): Promise<void> {
    try {
      await this.#options.writeAuditLines?.(lines.map((line) => Buffer.from(line)));
      this.#send({ type: "answer", id });
    } catch (error) {
      this.#send({ type: "answer", id, error: (error as Error).message });
    }
  }

  #send(message: ToThread): void {
    this.#port.postMessage(message);
  }
}
