/**
 * Tokens that a webhook authenticates: it gets a TokenReview, and answers with the user.
 *
 * 1. Failed calls are retried a few times; if the webhook cannot be reached the token is refused, and that is not
 *    cached.
 * 2. The webhook is trusted: it can name any user and any group.
 */
import { type authentication, isObject, type JsonObject } from "#api";
import { backoffDelay, type Clock, type Dial, type Logger, type Random } from "#base";
import { type ConnectionCredentials, httpCredentials } from "#pki";
import type { UserInfo } from "../../identity/user.ts";
import { JsonClient } from "../json-request.ts";
import { refused, type TokenAuthenticator } from "../verdict.ts";

const TIMEOUT_MS = 30_000;
const TRIES = 5;
const RETRY = { initialMs: 500, maxMs: 5_000, factor: 1.5, jitter: 0.2 };
const RETRIED_STATUSES = new Set([429, 500]);

export interface WebhookConnection extends ConnectionCredentials {
  /** The whole URL, with its path: the review is posted there. */
  readonly server: string;
}

export interface WebhookOptions {
  readonly connection: WebhookConnection;
  readonly version: "v1" | "v1beta1";
  /** The API server's audiences: assumed if the answer has none. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Opens the connections. Default: plain TCP. */
  readonly dial?: Dial | undefined;
}

export interface WebhookTokens {
  readonly authenticate: TokenAuthenticator;
  close(): void;
}

export function webhookTokens(options: WebhookOptions): WebhookTokens {
  const { connection, version, audiences: own, log } = options;
  const { tls, headers } = httpCredentials(connection);
  const client = new JsonClient({ tls, timeoutMs: TIMEOUT_MS, clock: options.clock, dial: options.dial });
  const closing = new AbortController();
  const apiVersion = `authentication.k8s.io/${version}`;

  const authenticate: TokenAuthenticator = async (token, wanted) => {
    const spec = { token, ...(wanted.length > 0 && { audiences: wanted }) };
    let status: authentication.TokenReviewStatus;
    try {
      status = await ask({ kind: "TokenReview", apiVersion, metadata: {}, spec });
    } catch (error) {
      log.error("the token webhook cannot be called", { server: connection.server, error });
      return refused((error as Error).message);
    }
    const said = status.audiences ?? [];
    const audiences = wanted.filter((audience) => (said.length > 0 ? said : own).includes(audience));
    if (wanted.length > 0 && audiences.length === 0) return undefined;
    if (status.authenticated !== true) return status.error ? refused(status.error) : undefined;
    return { user: userOf(status.user ?? {}), ...(wanted.length > 0 && { audiences }) };
  };

  const ask = async (review: object): Promise<authentication.TokenReviewStatus> => {
    for (let tried = 1; ; tried++) {
      const answer = await client
        .ask({ url: connection.server, body: review, headers, signal: closing.signal })
        .catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ECONNRESET") throw error;
          return undefined;
        });
      if (answer !== undefined && answer.status >= 200 && answer.status < 300) return statusIn(answer.text);
      const again = answer === undefined || RETRIED_STATUSES.has(answer.status);
      if (!again || tried === TRIES)
        throw new Error(`${connection.server} answers with ${answer?.status ?? "nothing"}`);
      await options.clock.sleep(backoffDelay(RETRY, tried - 1, options.random), closing.signal);
    }
  };

  return {
    authenticate,
    close: () => {
      closing.abort();
      client.close();
    },
  };
}

function statusIn(text: string): authentication.TokenReviewStatus {
  const review: unknown = JSON.parse(text);
  if (!isObject(review as JsonObject) || (review as JsonObject).kind !== "TokenReview") {
    throw new Error("the webhook's answer is no TokenReview");
  }
  const { status } = review as { status?: authentication.TokenReviewStatus };
  return status ?? {};
}

function userOf({ username = "", uid, groups = [], extra }: authentication.UserInfo): UserInfo {
  return {
    name: username,
    groups,
    ...(uid !== undefined && uid !== "" && { uid }),
    ...(extra !== undefined && { extra: extra as NonNullable<UserInfo["extra"]> }),
  };
}
