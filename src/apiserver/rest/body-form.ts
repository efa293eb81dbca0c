/** What a body is decoded as, in plain data: another thread can do it (`../heavy`). */
import type { Json } from "#api";
import type { WriteOptions } from "./options.ts";
import type { RestRequest } from "./rest-request.ts";

export type BodyForm =
  /** An object of a kind. `typeName`: its type. */
  | {
      readonly as: "object";
      readonly group: string;
      readonly version: string;
      readonly kind: string;
      readonly typeName: string;
      readonly validation: WriteOptions["fieldValidation"];
    }
  /** A type that is not a served kind, and the options of a request. */
  | { readonly as: "type" | "options"; readonly typeName: string }
  /** What apply sends. `strict`: keys that are there twice are looked for. */
  | { readonly as: "configuration"; readonly typeName: string; readonly patchType: string; readonly strict: boolean }
  /** Any other patch. */
  | { readonly as: "patch"; readonly patchType: string };

export interface ReadBody {
  readonly value: Json;
  /** The findings of strict decoding. */
  readonly warnings: readonly string[];
}

/** How the bytes came. */
export type Sent = Pick<RestRequest, "contentType" | "cbor">;

/** Bodies that are so large that decoding them would hold the serving thread are decoded elsewhere. */
export interface LargeBodies {
  /** Undefined: the body is small. */
  decode(request: Sent & Pick<RestRequest, "user">, bytes: Buffer, form: BodyForm): Promise<ReadBody> | undefined;
}
