/**
 * An answer that is made once and sent many times: its bytes, their gzip form and the ETag.
 *
 * 1. Nothing is rendered before it is asked for; then it is kept.
 * 2. The ETag is a hash of the bytes, so that servers that say the same have the same.
 */
import { createHash } from "node:crypto";
import { constants, gzipSync } from "node:zlib";
import type { JsonObject } from "#api";

export class PreparedDocument {
  /** The full name of its type, for codecs: such as io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList; empty where it has none. */
  readonly typeName: string;
  readonly #render: () => string | Buffer | JsonObject;
  #body: Buffer | undefined;
  #gzip: Buffer | undefined;
  #hash: string | undefined;

  constructor(typeName: string, render: () => string | Buffer | JsonObject) {
    this.typeName = typeName;
    this.#render = render;
  }

  /** JSON, unless it was rendered as bytes of another kind. */
  get body(): Buffer {
    if (this.#body === undefined) {
      const rendered = this.#render();
      if (Buffer.isBuffer(rendered)) this.#body = rendered;
      else this.#body = Buffer.from(typeof rendered === "string" ? rendered : JSON.stringify(rendered));
    }
    return this.#body;
  }

  /** Fast compression: what is saved by more is lost again on the way to a client nearby. */
  get gzip(): Buffer {
    this.#gzip ??= gzipSync(this.body, { level: constants.Z_BEST_SPEED });
    return this.#gzip;
  }

  get hash(): string {
    this.#hash ??= createHash("sha512").update(this.body).digest("hex").toUpperCase();
    return this.#hash;
  }

  get etag(): string {
    return `"${this.hash}"`;
  }

  /** For the encoders of YAML and protobuf, which are asked rarely: parsed anew each time. */
  value(): JsonObject {
    return JSON.parse(this.body.toString()) as JsonObject;
  }
}
