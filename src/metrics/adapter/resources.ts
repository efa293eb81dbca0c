/**
 * The resources of the cluster by the names that a configuration or a path has for them.
 *
 * 1. They are discovered again when a name is unknown, but not more often than every half minute.
 */
import type { Clock } from "#base";
import { type Client, type DiscoveredResource, discoverResources } from "#client";

const AGAIN_MS = 30_000;

export class Resources {
  readonly #client: Client;
  readonly #clock: Clock;
  #known: readonly DiscoveredResource[] = [];
  #askedMs: number | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const { resources } = await discoverResources(this.#client, { signal });
    // The core group goes first where a name is in several.
    this.#known = [...resources].sort((a, b) => Number(a.group !== "") - Number(b.group !== ""));
    this.#askedMs = this.#clock.monotonic();
  }

  /** By plural or singular name. Without a group: of any. */
  known({ group, resource }: { readonly group?: string | undefined; readonly resource: string }) {
    return this.#known.find(
      (each) =>
        (group === undefined || group === "" || each.group === group) &&
        (each.plural === resource || singularOf(each) === resource),
    );
  }

  async find(asked: { readonly group: string; readonly resource: string }, signal: AbortSignal) {
    const found = this.known(asked);
    const isRecent = this.#askedMs !== undefined && this.#clock.monotonic() - this.#askedMs < AGAIN_MS;
    if (found !== undefined || isRecent) return found;
    await this.refresh(signal);
    return this.known(asked);
  }
}

export function singularOf({ kind }: DiscoveredResource): string {
  return kind.toLowerCase();
}
