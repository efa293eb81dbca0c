/**
 * Discovery and OpenAPI of a version that two may serve: this server (built in, or by a definition) and an extension
 * server.
 *
 *     built in, definitions ──► local  ┐
 *                                      ├──► discovery, OpenAPI
 *     APIServices           ──► remote ┘    (the remote one, if there is one)
 *
 * 1. When one of the two gives up a version, the current documents of the other appear.
 */
import { type Discovery, defaultPriority, type Priority, type ServedVersion } from "../discovery/index.ts";
import type { OpenApi, RemoteDocuments } from "../openapi/index.ts";
import { nameFor } from "./api-service.ts";

export class LayeredDocuments {
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;
  readonly #local: Map<string, ServedVersion>;
  readonly #remote = new Map<string, ServedVersion>();
  /** The priorities that APIServices give to versions that this server serves. */
  readonly #priorities = new Map<string, Priority>();

  /** `local`: what is published already. */
  constructor(
    { discovery, openApi }: { readonly discovery: Discovery; readonly openApi: OpenApi },
    local: readonly ServedVersion[],
  ) {
    this.#discovery = discovery;
    this.#openApi = openApi;
    this.#local = new Map(local.map((served) => [keyOf(served), served]));
  }

  /** Versions that this server serves. */
  set(...versions: readonly ServedVersion[]): void {
    for (const served of versions) this.#local.set(keyOf(served), served);
    const shown = versions.filter((served) => !this.#remote.has(keyOf(served))).map((served) => this.#ranked(served));
    if (shown.length === 0) return;
    this.#discovery.set(...shown);
    this.#openApi.set(...shown);
  }

  remove(group: string, version: string): void {
    const key = nameFor(group, version);
    this.#local.delete(key);
    if (!this.#remote.has(key)) this.#drop(group, version);
  }

  /** Sets the priority of a version that this server serves. */
  rank(group: string, version: string, priority: Priority): void {
    const key = nameFor(group, version);
    const before = this.#priorities.get(key) ?? defaultPriority(group, version);
    this.#priorities.set(key, priority);
    const served = this.#local.get(key);
    if (served === undefined || this.#remote.has(key)) return;
    if (before.group !== priority.group || before.version !== priority.version)
      this.#discovery.set(this.#ranked(served));
  }

  /** A version of an extension server. `documents`: undefined while they are not known. */
  setRemote(served: ServedVersion, documents: RemoteDocuments | undefined): void {
    const { group, version } = served;
    const isNew = !this.#remote.has(keyOf(served));
    this.#remote.set(keyOf(served), served);
    this.#discovery.set(served);
    if (isNew) this.#openApi.remove(group, version);
    if (documents !== undefined) this.#openApi.setRemote(group, version, documents);
  }

  removeRemote(group: string, version: string): void {
    const key = nameFor(group, version);
    if (!this.#remote.delete(key)) return;
    const local = this.#local.get(key);
    this.#openApi.remove(group, version);
    if (local === undefined) this.#discovery.remove(group, version);
    else {
      this.#discovery.set(this.#ranked(local));
      this.#openApi.set(local);
    }
  }

  #ranked(served: ServedVersion): ServedVersion {
    const priority = this.#priorities.get(keyOf(served));
    return priority === undefined ? served : { ...served, priority };
  }

  #drop(group: string, version: string): void {
    this.#discovery.remove(group, version);
    this.#openApi.remove(group, version);
  }
}

function keyOf({ group, version }: ServedVersion): string {
  return nameFor(group, version);
}
