/** A client of one API server, as one user. */
import { type KubeObject, writeJson } from "#api";
import type { Clock } from "#base";
import type { Transport } from "../transport/transport.ts";
import { Calls } from "./calls.ts";
import type { CallOptions } from "./options.ts";
import { type ResourceOf, resourceName } from "./resource.ts";
import { METADATA_ALONE, ResourceClient } from "./resource-client.ts";

const DEFAULT_TIMEOUT_MS = 30_000;

export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** The part before the slash is the default field manager. Default: k8ts. */
  readonly userAgent?: string;
  /** The deadline of calls that have none of their own. For a watch, until it is open. */
  readonly timeoutMs?: number;
}

export class Client {
  readonly #transport: Transport;
  readonly #calls: Calls;

  constructor({ transport, clock, userAgent = "k8ts", timeoutMs = DEFAULT_TIMEOUT_MS }: ClientOptions) {
    this.#transport = transport;
    this.#calls = new Calls({ transport, clock, userAgent, timeoutMs });
  }

  /**
   * `client.of(Pod)` for a kind, `client.of<Widget>({ apiVersion, kind, plural, namespaced })` for a custom resource.
   */
  of<T extends KubeObject>(resource: ResourceOf<T>): ResourceClient<T> {
    return new ResourceClient<T>(this.#calls, resourceName(resource));
  }

  /** The same objects as PartialObjectMetadata. */
  metadataOf(resource: ResourceOf<KubeObject>): ResourceClient<KubeObject> {
    return new ResourceClient<KubeObject>(this.#calls, resourceName(resource), undefined, METADATA_ALONE);
  }

  /** GET of a path that is not a resource, such as /readyz, as text. */
  text(path: string, { signal, timeoutMs, accept = "*/*" }: CallOptions & { accept?: string } = {}): Promise<string> {
    return this.#calls.text({ method: "GET", target: path, accept, signal, timeoutMs });
  }

  /** POST of a value to such a path; the response as text. */
  post(path: string, value: object, { signal, timeoutMs }: CallOptions = {}): Promise<string> {
    const body = writeJson(value);
    return this.#calls.text({ method: "POST", target: path, contentType: "application/json", body, signal, timeoutMs });
  }

  /** Ends all calls and watches. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}
