/**
 * A response body that is made once and sent many times: its bytes, their gzip form and the ETag.
 *
 * 1. Each is rendered on first use, then kept.
 * 2. The ETag is a hash of the bytes: servers with the same content have the same ETag.
 */
import { createHash } from "node:crypto";
import { constants, gzipSync } from "node:zlib";
import type { JsonObject } from "#api";

export class PreparedDocument {
  /**
   * The full name of its type for codecs, such as io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList; empty if it has
   * none.
   */
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

  /** Fast compression: a better one would cost a nearby client more than it saves. */
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

  /** For the YAML and protobuf encoders, which are used rarely: parsed on each call. */
  value(): JsonObject {
    return JSON.parse(this.body.toString()) as JsonObject;
  }
}
