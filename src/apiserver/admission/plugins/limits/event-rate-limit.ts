/** EventRateLimit: limits the rate of Events by server, namespace, user, or source and object. */
import { type core, isObject, type Json, type JsonObject, StatusError } from "#api";
import { LruMap } from "#base";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { aggregate } from "../../chain/aggregate.ts";
import { AdmissionConfigError } from "../../chain/configuration.ts";
import { type AdmissionPlugin, rule } from "../../chain/plugin.ts";

const NAME = "EventRateLimit";
const CACHED = 4096;

type LimitType = keyof typeof KEYS;

const KEYS = {
  Server: () => "",
  Namespace: ({ namespace }: AdmissionAttributes) => namespace,
  User: ({ user }: AdmissionAttributes) => user.name,
  SourceAndObject: ({ object }: AdmissionAttributes) => sourceAndObject(object as core.Event),
} as const;

interface Limit {
  readonly type: LimitType;
  readonly qps: number;
  readonly burst: number;
  readonly cacheSize: number;
}

export function eventRateLimit(configuration: JsonObject | undefined): AdmissionPlugin {
  const limits = limitsFrom(configuration).map((limit) => ({ type: limit.type, buckets: new Buckets(limit) }));
  return {
    name: NAME,
    validates: [
      rule("CREATE UPDATE", "events", (attributes, { clock }) => {
        if (attributes.dryRun) return;
        const faults = limits.flatMap(({ type, buckets }) => {
          const key = KEYS[type](attributes);
          return buckets.take(key, clock.monotonic()) ? [] : [`limit reached on type ${type} for key ${key}`];
        });
        if (faults.length > 0) throw new StatusError("TooManyRequests", `Too many requests: ${aggregate(faults)}`);
      }),
    ],
  };
}

/** Token buckets; only the most recently used are kept. */
class Buckets {
  readonly #limit: Limit;
  readonly #byKey: LruMap<string, { tokens: number; at: number }>;

  constructor(limit: Limit) {
    this.#limit = limit;
    this.#byKey = new LruMap(limit.cacheSize);
  }

  take(key: string, now: number): boolean {
    const { qps, burst } = this.#limit;
    const bucket = this.#byKey.get(key) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * qps);
    bucket.at = now;
    this.#byKey.set(key, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }
}

function sourceAndObject({ source, involvedObject }: core.Event): string {
  const { kind, namespace, name, uid, apiVersion } = involvedObject ?? {};
  return [source?.component, source?.host, kind, namespace, name, uid, apiVersion].map((part) => part ?? "").join("");
}

function limitsFrom(configuration: JsonObject | undefined): readonly Limit[] {
  const limits = configuration?.limits;
  if (!Array.isArray(limits) || limits.length === 0)
    throw new AdmissionConfigError(NAME, "its configuration has to name at least one of `limits`");
  return limits.map((limit, i) => limitFrom(limit, i));
}

function limitFrom(value: Json, i: number): Limit {
  const fault = (why: string) => new AdmissionConfigError(NAME, `limits[${i}]${why}`);
  if (!isObject(value)) throw fault(" has to be an object");
  const { type, qps, burst, cacheSize = 0 } = value;
  if (typeof type !== "string" || !Object.hasOwn(KEYS, type))
    throw fault(`.type has to be one of ${Object.keys(KEYS).join(", ")}`);
  if (typeof qps !== "number" || qps <= 0) throw fault(".qps has to be a number above 0");
  if (typeof burst !== "number" || burst <= 0) throw fault(".burst has to be a number above 0");
  if (typeof cacheSize !== "number" || cacheSize < 0) throw fault(".cacheSize has to be a number that is not negative");
  return { type: type as LimitType, qps, burst, cacheSize: cacheSize === 0 ? CACHED : cacheSize };
}
