/** One request to a resource, as the verbs see it. */
import { type Json, type Kind, StatusError } from "#api";
import type { Revision } from "#store";
import type { UserInfo } from "../identity/user.ts";
import type { LargeBodies } from "./body-form.ts";
import type { AnyDraft } from "./draft.ts";
import type { Resource } from "./resource.ts";
import type { RequestWitness, ServerContext } from "./server-context.ts";

export interface RestRequest {
  readonly context: ServerContext;
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly user: UserInfo;
  readonly userAgent: string | undefined;
  readonly query: URLSearchParams;
  /** Reads return the state at this revision. Absent: the newest. */
  readonly asOf?: Revision | undefined;
  readonly contentType: string | undefined;
  /** Whether CBOR is served: the feature gate CBORServingAndStorage. */
  readonly cbor: boolean;
  body(): Promise<Buffer>;
  /** The value of the body, for clients in this process, which need not encode it. */
  readonly value?: (() => Json) | undefined;
  /** Absent: all bodies are decoded here. */
  readonly largeBodies?: LargeBodies | undefined;
  warn(message: string): void;
  /** Adds an audit annotation. `level`: only if the audit policy records request bodies. */
  annotate(key: string, value: string, level?: "Request"): void;
  /** Called with the object as it was sent, before defaults are added (audit). */
  readonly received?: ((draft: AnyDraft, kind: Kind) => void) | undefined;
  readonly witness?: RequestWitness | undefined;
  /** Absent: it may take as long as it takes. */
  readonly life?: RequestLife | undefined;
}

export interface RequestLife {
  /** It took too long, and has been answered so: nothing may be stored for it any more. */
  readonly isOver: boolean;
  /** How long it waited for others than this server, such as webhooks. */
  waitedMs: number;
  /** The size of its body, once that was read. */
  bodyBytes: number;
}

/** To be called before something is stored. Nobody sees the error: the request has its answer. */
export function demandLife({ life }: Pick<RestRequest, "life">): void {
  if (life?.isOver === true) throw new StatusError("Timeout", "Timeout: the request is over");
}

/** The result of a write, in the resource's own form. */
export interface Written {
  readonly created: boolean;
  readonly stored: import("../cache/stored-object.ts").StoredObject;
}
