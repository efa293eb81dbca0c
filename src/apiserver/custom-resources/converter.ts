/**
 * Converts objects of a custom kind from their version to another: by changing apiVersion alone, or by the definition's
 * webhook.
 *
 * 1. The webhook gets objects in batches, a few batches at once. Every call ends: with an answer, or at its deadline.
 */
import { convertNone, type JsonObject } from "#api";
import type { WebhookClient } from "../outbound/webhook-client.ts";
import { answersTo, type Conversion, failed, type Question, reviewOf, reviewVersion } from "./conversion-review.ts";

const CALLS_AT_ONCE = 8;
const BATCH_OBJECTS = 100;

export interface Converter {
  /** Without waiting. Undefined: only `convert` can. */
  now(object: JsonObject, apiVersion: string): JsonObject | undefined;
  /** Each object on its own: one that cannot be converted does not fail the others. */
  convert(objects: readonly JsonObject[], apiVersion: string): Promise<readonly Conversion[]>;
  /** Closes its connections when the calls under way have ended. */
  close(): void;
}

/** Strategy None: all versions have the same fields. */
export const noConverter: Converter = {
  now: named,
  convert: async (objects, apiVersion) => objects.map((object) => ({ ok: true, object: named(object, apiVersion) })),
  close: () => {},
};

function named(object: JsonObject, apiVersion: string): JsonObject {
  return convertNone(object as unknown as Parameters<typeof convertNone>[0], apiVersion) as unknown as JsonObject;
}

export interface WebhookConverterOptions {
  readonly client: WebhookClient;
  /** The ConversionReview versions that the webhook understands, preferred first. */
  readonly reviewVersions: readonly string[];
  newUid(): string;
  /** Called before each call of the webhook; the returned function, with the outcomes, after it. */
  onCall?: (() => (outcomes: readonly Conversion[]) => void) | undefined;
}

export class WebhookConverter implements Converter {
  readonly #client: WebhookClient;
  readonly #version: string | undefined;
  readonly #newUid: () => string;
  readonly #onCall: WebhookConverterOptions["onCall"];
  readonly #waiting: (() => void)[] = [];
  #calls = 0;

  constructor({ client, reviewVersions, newUid, onCall }: WebhookConverterOptions) {
    this.#client = client;
    this.#version = reviewVersion(reviewVersions);
    this.#newUid = newUid;
    this.#onCall = onCall;
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
    const onEnd = this.#onCall?.();
    const answer = await this.#client.post(reviewOf(version, question));
    const outcomes = answer.ok
      ? answersTo(question, version, answer.value)
      : objects.map((object) => failed(object, ` failed: ${answer.message}`, "call"));
    onEnd?.(outcomes);
    return outcomes;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#calls >= CALLS_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#calls++;
    try {
      return await work();
    } finally {
      // A waiting call takes over the place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#calls--;
      else next();
    }
  }
}
