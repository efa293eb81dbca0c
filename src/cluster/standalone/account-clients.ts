/**
 * Clients of the controllers' own service accounts, by tokens that the API server gives out for them.
 *
 *     request ──► token at hand and young enough? ──► API server
 *                  └─ no: TokenRequest as the controller manager, for an account that is made if it is missing
 *
 * 1. A token is renewed well before it ends. While a new one cannot be had, the old one is used.
 * 2. A token that the server no longer takes, because its account was made anew, is replaced, and the request sent once more.
 * 3. All accounts share one connection, which carries no certificate: their tokens alone say who asks.
 */
import { type authentication, type core, isStatusError } from "#api";
import { abortable, type Clock, type Logger } from "#base";
import { Client, type HttpsConnection, https, type ResourceName, type Transport } from "#client";

const ACCOUNTS: ResourceName = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};
const NAMESPACE = "kube-system";
const LIFE_SECONDS = 3600;
/** The part of its life after which a token is renewed. */
const YOUNG = 0.8;
/** How long to wait before a renewal that failed is tried again. */
const RETRY_MS = 10_000;

export interface AccountClientsOptions {
  /** Of the controller manager, which may ask for tokens. */
  readonly client: Client;
  readonly transport: Transport;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The same server, as nobody. */
export function anonymous({ certPem: _, keyPem: __, token: ___, ...connection }: HttpsConnection, clock: Clock) {
  return https(connection, { clock });
}

/** A client for each account by its name. The transport is its owner's to close. */
export function accountClients(options: AccountClientsOptions): (account: string) => Client {
  const { transport, clock, userAgent } = options;
  return (account) => {
    const token = new AccountToken(account, options);
    return new Client({
      transport: { send: (request) => sendWith(token, transport, request), close: async () => {} },
      clock,
      userAgent: `${userAgent}/${account}`,
    });
  };
}

type Request = Parameters<Transport["send"]>[0];

async function sendWith(token: AccountToken, transport: Transport, request: Request) {
  const send = async () => {
    const bearer = await abortable(token.get(), request.ending);
    const headers = { ...request.headers, authorization: `Bearer ${bearer}` };
    return { bearer, answer: await transport.send({ ...request, headers }) };
  };
  const { bearer, answer } = await send();
  if (answer.status !== 401) return answer;
  token.forget(bearer);
  return (await send()).answer;
}

interface Held {
  readonly token: string;
  readonly renewAtMs: number;
  readonly endsAtMs: number;
}

class AccountToken {
  readonly #account: string;
  readonly #options: AccountClientsOptions;
  #held: Held | undefined;
  #asking: Promise<Held> | undefined;

  constructor(account: string, options: AccountClientsOptions) {
    this.#account = account;
    this.#options = options;
  }

  async get(): Promise<string> {
    const { clock, log } = this.#options;
    const held = this.#held;
    if (held !== undefined && clock.monotonic() < held.renewAtMs) return held.token;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    try {
      return (await this.#asking).token;
    } catch (error) {
      if (held === undefined || clock.monotonic() >= held.endsAtMs) throw error;
      log.warn("a token could not be renewed; the one at hand is used", { account: this.#account, error });
      this.#held = { ...held, renewAtMs: clock.monotonic() + RETRY_MS };
      return held.token;
    }
  }

  forget(token: string): void {
    if (this.#held?.token === token) this.#held = undefined;
  }

  async #ask(): Promise<Held> {
    const { client, clock } = this.#options;
    const accounts = client.of<core.ServiceAccount>(ACCOUNTS).in(NAMESPACE);
    const tokens = accounts.subresource<authentication.TokenRequest>(this.#account, "token");
    const asked = { metadata: {}, spec: { audiences: [], expirationSeconds: LIFE_SECONDS } };
    const sinceMs = clock.monotonic();
    const given = await tokens.create(asked).catch(async (error: unknown) => {
      if (!isStatusError(error) || error.reason !== "NotFound") throw error;
      await this.#makeAccount();
      return tokens.create(asked);
    });
    const lifeMs = (given.spec?.expirationSeconds ?? LIFE_SECONDS) * 1000;
    const held = {
      token: given.status?.token ?? "",
      renewAtMs: sinceMs + YOUNG * lifeMs,
      endsAtMs: sinceMs + lifeMs,
    };
    this.#held = held;
    return held;
  }

  async #makeAccount(): Promise<void> {
    const metadata = { name: this.#account, namespace: NAMESPACE };
    try {
      await this.#options.client.of<core.ServiceAccount>(ACCOUNTS).create({ metadata });
    } catch (error) {
      if (!isStatusError(error) || error.reason !== "AlreadyExists") throw error;
    }
  }
}
