/** One request to a resource, as the verbs see it. */
import type { Json, Kind } from "#api";
import type { Revision } from "#store";
import type { UserInfo } from "../identity/user.ts";
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
  /** Reads show the state as of this revision. Absent: the newest. */
  readonly asOf?: Revision | undefined;
  readonly contentType: string | undefined;
  body(): Promise<Buffer>;
  /** What the body says in JSON, where it need not be read. */
  readonly value?: (() => Json) | undefined;
  warn(message: string): void;
  /** Notes something for audit. `level`: only where the bodies of requests are kept, too. */
  annotate(key: string, value: string, level?: "Request"): void;
  /** Somebody wants to see the object that was sent, before anything is added to it. */
  readonly received?: ((draft: AnyDraft, kind: Kind) => void) | undefined;
  readonly witness?: RequestWitness | undefined;
}

/** An object that a write made, in the resource's own form, and its bytes if it was stored. */
export interface Written {
  readonly created: boolean;
  readonly stored: import("../cache/stored-object.ts").StoredObject;
}
