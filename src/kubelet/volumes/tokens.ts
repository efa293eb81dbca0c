/**
 * ServiceAccount tokens of Pods: requested once, cached, and renewed after 80 % of their lifetime, at the latest after
 * a day.
 *
 * A token is used until it expires if the API server cannot be reached for a new one.
 */
import { type authentication, type core, formatTime, instantOf, kinds, parseTime, toMs, writeJson } from "#api";
import type { Clock, Logger } from "#base";
import type { Client } from "#client";
import { podText } from "../pod-status/index.ts";

const DEFAULT_SECONDS = 3600;
const RENEW_AFTER = 0.8;
const DAY_MS = 24 * 3_600_000;

interface Kept {
  readonly token: string;
  readonly expiresMs: number;
  readonly renewMs: number;
}

export class PodTokens {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #kept = new Map<string, Map<string, Kept>>();

  constructor({ client, clock, log }: { readonly client: Client; readonly clock: Clock; readonly log: Logger }) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
  }

  async get(pod: core.Pod, projection: core.ServiceAccountTokenProjection, signal: AbortSignal): Promise<string> {
    return (await this.#current(pod, projection, signal)).token;
  }

  /** As a TokenRequest's status. */
  async issued(pod: core.Pod, projection: core.ServiceAccountTokenProjection, signal: AbortSignal) {
    const { token, expiresMs } = await this.#current(pod, projection, signal);
    return { token, expirationTimestamp: formatTime(instantOf(expiresMs)) };
  }

  async #current(pod: core.Pod, projection: core.ServiceAccountTokenProjection, signal: AbortSignal): Promise<Kept> {
    const { uid = "" } = pod.metadata;
    const key = writeJson([projection.audience ?? "", projection.expirationSeconds ?? DEFAULT_SECONDS]);
    const kept = this.#kept.get(uid)?.get(key);
    const nowMs = this.#clock.now();
    if (kept !== undefined && nowMs < kept.renewMs) return kept;
    try {
      const fresh = await this.#request(pod, projection, signal);
      const ofPod = this.#kept.get(uid) ?? new Map<string, Kept>();
      this.#kept.set(uid, ofPod.set(key, fresh));
      return fresh;
    } catch (error) {
      if (kept === undefined || nowMs >= kept.expiresMs) throw error;
      this.#log.warn("service account token could not be renewed yet", { pod: podText(pod), error });
      return kept;
    }
  }

  forget(uid: string): void {
    this.#kept.delete(uid);
  }

  async #request(
    { metadata, spec }: core.Pod,
    { audience, expirationSeconds = DEFAULT_SECONDS }: core.ServiceAccountTokenProjection,
    signal: AbortSignal,
  ): Promise<Kept> {
    const { name = "", namespace = "", uid = "" } = metadata;
    const account = spec?.serviceAccountName ?? "default";
    const issuedMs = this.#clock.now();
    const { status } = await this.#client
      .of(kinds.ServiceAccount)
      .in(namespace)
      .subresource<authentication.TokenRequest>(account, "token")
      .create(
        {
          metadata: {},
          spec: {
            ...(audience !== undefined && audience !== "" && { audiences: [audience] }),
            expirationSeconds,
            boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid },
          },
        },
        { signal },
      );
    if (status?.token === undefined) throw new Error(`failed to fetch token: no token in the response`);
    const expiresMs =
      status.expirationTimestamp === undefined
        ? issuedMs + Number(expirationSeconds) * 1000
        : toMs(parseTime(status.expirationTimestamp));
    const renewMs = issuedMs + Math.min(DAY_MS, (expiresMs - issuedMs) * RENEW_AFTER);
    return { token: status.token, expiresMs, renewMs };
  }
}
