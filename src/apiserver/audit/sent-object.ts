/**
 * The object of a request, for its events: with its defaults, as the server understood it; of patches and others the
 * body as it is.
 */
import { decodeCbor, type Json, type Kind, parseJson, parseYaml, writeJson } from "#api";
import type { BodyObserver } from "../pipeline/exchange.ts";
import { mediaType } from "../rest/body.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { fillIn } from "../rest/write/defaults.ts";
import { withoutManagedFields } from "./answered-object.ts";
import type { ObjectIdentity } from "./event.ts";
import type { Verdict } from "./policy.ts";

export class SentObject implements BodyObserver {
  readonly #omitManagedFields: boolean;
  readonly #contentType: string | undefined;
  #identity: ObjectIdentity | undefined;
  #text: string | undefined;
  #bytes: Buffer | undefined;
  /** Only where bodies are recorded. */
  readonly body?: (bytes: Buffer) => void;

  constructor({ objects, omitManagedFields }: Verdict, contentType: string | undefined) {
    this.#omitManagedFields = omitManagedFields;
    this.#contentType = contentType;
    if (objects !== "none") {
      this.body = (bytes) => {
        this.#bytes = bytes;
      };
    }
  }

  object(draft: AnyDraft, kind: Kind): void {
    const { name, namespace, uid, resourceVersion } = draft.metadata;
    this.#identity = { name, namespace, uid, resourceVersion };
    if (this.body === undefined) return;
    const copy = structuredClone(draft);
    fillIn(kind, copy);
    this.#text = writeJson(this.#omitManagedFields ? withoutManagedFields(copy as unknown as Json) : copy);
  }

  get identity(): ObjectIdentity | undefined {
    return this.#identity;
  }

  /** JSON; undefined if there was no body, or none that can be shown as JSON. */
  get pieces(): readonly (string | Buffer)[] | undefined {
    if (this.#text !== undefined) return [this.#text];
    const bytes = this.#bytes;
    if (bytes === undefined || bytes.length === 0) return undefined;
    const type = mediaType(this.#contentType);
    try {
      if (type.endsWith("json")) return [writeJson(parseJson(bytes.toString()))];
      if (type.endsWith("cbor")) return [writeJson(decodeCbor(bytes))];
      if (type.endsWith("yaml")) return [writeJson(parseYaml(bytes.toString()).value)];
    } catch {
      // The answer reports that it cannot be read; there is no object to show.
    }
    return undefined;
  }
}
