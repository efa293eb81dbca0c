/**
 * The scale of the object that an autoscaler names: of any kind with a scale subresource.
 *
 * 1. Kinds are found by discovery, which is asked again after ten minutes, or at once if a kind is unknown or its scale
 *    is not found: its version may no longer be served.
 */
import { type autoscaling, goQuote, isStatusError, type KubeObject } from "#api";
import type { Clock } from "#base";
import { type Client, type DiscoveredResource, discoverResources } from "#client";
import { groupOf } from "../runtime/index.ts";
import type { Computed } from "./samples.ts";

const DISCOVERY_MS = 600_000;

/** autoscaling/v1. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}

export interface Target {
  readonly resource: DiscoveredResource;
  readonly scale: Scale;
}

export class Targets {
  readonly #client: Client;
  readonly #clock: Clock;
  #known: { readonly resources: readonly DiscoveredResource[]; readonly atMs: number } | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The resource of a kind, whatever its version. */
  async resourceOf(apiVersion: string, kind: string, signal: AbortSignal): Promise<Computed<DiscoveredResource>> {
    if (apiVersion.split("/").length > 2) return { ok: false, error: `unexpected GroupVersion string: ${apiVersion}` };
    const group = groupOf(apiVersion);
    const isIt = (each: DiscoveredResource) => each.group === group && each.kind === kind;
    const now = this.#clock.monotonic();
    const isFresh = this.#known !== undefined && now - this.#known.atMs < DISCOVERY_MS;
    let found = isFresh ? this.#known?.resources.find(isIt) : undefined;
    if (found === undefined) {
      const { resources } = await discoverResources(this.#client, { signal });
      this.#known = { resources, atMs: now };
      found = resources.find(isIt);
    }
    if (found === undefined)
      return { ok: false, error: `no matches for kind ${goQuote(kind)} in group ${goQuote(group)}` };
    return { ok: true, value: found };
  }

  async find(
    namespace: string,
    { apiVersion = "", kind, name }: autoscaling.CrossVersionObjectReference,
    signal: AbortSignal,
  ): Promise<Computed<Target>> {
    try {
      const resource = await this.resourceOf(apiVersion, kind, signal);
      if (!resource.ok) return resource;
      const objects = this.#client.of<KubeObject>(resource.value);
      const place = resource.value.namespaced ? objects.in(namespace) : objects;
      const scale = await place.subresource<Scale>(name, "scale").get({ signal });
      return { ok: true, value: { resource: resource.value, scale } };
    } catch (error) {
      signal.throwIfAborted();
      if (isStatusError(error, "NotFound")) this.#known = undefined;
      return { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }
}
