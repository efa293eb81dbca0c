/**
 * Clients with the tokens of the controllers' own service accounts.
 *
 *     request ──► valid token cached? ──► API server
 *                  └─ no: TokenRequest as the controller manager; the account is created if it is missing
 *
 * 1. A token is renewed well before it expires. If renewal fails, the old one is used.
 * 2. A rejected token, for example of a recreated account, is replaced, and the request is sent once more.
 * 3. All accounts share one connection without a client certificate.
 */
import { type authentication, type core, isStatusError, kinds } from "#api";
import { abortable, type Clock, type Logger } from "#base";
import { Client, type HttpsConnection, https, type Transport } from "#client";

const ACCOUNTS = kinds.ServiceAccount;
const NAMESPACE = "kube-system";
const LIFE_SECONDS = 3600;
/** The fraction of its lifetime after which a token is renewed. */
const YOUNG = 0.8;
/** The wait after a failed renewal. */
const RETRY_MS = 10_000;

export interface AccountClientsOptions {
  /** The controller manager's client, which may request tokens. */
  readonly client: Client;
  readonly transport: Transport;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The same server, without credentials. */
export function anonymous({ certPem: _, keyPem: __, token: ___, ...connection }: HttpsConnection, clock: Clock) {
  return https(connection, { clock });
}

/** A client for each account. The caller closes the transport. */
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
      log.warn("a token could not be renewed; the old one is used", { account: this.#account, error });
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
    const lifeMs = Number(given.spec?.expirationSeconds ?? LIFE_SECONDS) * 1000;
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
