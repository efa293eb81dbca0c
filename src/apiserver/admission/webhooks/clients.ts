/**
 * Connections to webhooks: webhooks with the same address and credentials share a client, as long as one of them is
 * configured.
 */
import { type apiextensions, goJson, type Json } from "#api";
import type { WebhookClient } from "../../outbound/webhook-client.ts";

type Config = apiextensions.WebhookClientConfig;

export class Clients {
  readonly #make: (config: Config) => WebhookClient;
  readonly #open = new Map<string, WebhookClient>();

  constructor(make: (config: Config) => WebhookClient) {
    this.#make = make;
  }

  to(config: Config): WebhookClient {
    const key = keyOf(config);
    let client = this.#open.get(key);
    if (client === undefined) {
      client = this.#make(config);
      this.#open.set(key, client);
    }
    return client;
  }

  /** Closes all other clients. */
  keep(configs: readonly Config[]): void {
    const kept = new Set(configs.map(keyOf));
    for (const [key, client] of this.#open) {
      if (kept.has(key)) continue;
      this.#open.delete(key);
      client.close();
    }
  }
}

function keyOf(config: Config): string {
  return goJson(config as unknown as Json);
}
