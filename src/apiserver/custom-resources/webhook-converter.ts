/**
 * Conversion by a webhook: objects go to it in batches, a few batches at once.
 *
 * 1. Whatever the webhook does, every call ends: with an answer, or in time.
 */
import type { JsonObject } from "#api";
import type { WebhookClient } from "../outbound/webhook-client.ts";
import { answersTo, failed, type Question, reviewOf, reviewVersion } from "./conversion-review.ts";
import type { Conversion, Converter } from "./converter.ts";

const CALLS_AT_ONCE = 8;
const BATCH_OBJECTS = 100;

export interface WebhookConverterOptions {
  readonly client: WebhookClient;
  /** Those that the webhook understands, by its preference. */
  readonly reviewVersions: readonly string[];
  newUid(): string;
}

export class WebhookConverter implements Converter {
  readonly #client: WebhookClient;
  readonly #version: string | undefined;
  readonly #newUid: () => string;
  readonly #waiting: (() => void)[] = [];
  #calls = 0;

  constructor({ client, reviewVersions, newUid }: WebhookConverterOptions) {
    this.#client = client;
    this.#version = reviewVersion(reviewVersions);
    this.#newUid = newUid;
  }

  now(object: JsonObject, apiVersion: string): JsonObject | undefined {
    return object.apiVersion === apiVersion ? object : undefined;
  }

  async convert(objects: readonly JsonObject[], apiVersion: string): Promise<readonly Conversion[]> {
    const batches = Array.from({ length: Math.ceil(objects.length / BATCH_OBJECTS) }, (_, i) =>
      objects.slice(i * BATCH_OBJECTS, (i + 1) * BATCH_OBJECTS),
    );
    return (await Promise.all(batches.map((batch) => this.#inTurn(() => this.#call(batch, apiVersion))))).flat();
  }

  close(): void {
    this.#client.close();
  }

  async #call(objects: readonly JsonObject[], desiredAPIVersion: string): Promise<readonly Conversion[]> {
    const version = this.#version;
    if (version === undefined) {
      return objects.map(() => ({ ok: false, message: "no supported conversion review versions" }));
    }
    const question: Question = { uid: this.#newUid(), desiredAPIVersion, objects };
    const answer = await this.#client.post(reviewOf(version, question));
    if (!answer.ok) return objects.map((object) => failed(object, ` failed: ${answer.message}`));
    return answersTo(question, version, answer.value);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#calls >= CALLS_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#calls++;
    try {
      return await work();
    } finally {
      // Whoever waits takes over the place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#calls--;
      else next();
    }
  }
}
