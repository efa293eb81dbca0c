/**
 * /healthz, /livez and /readyz with the checks, query parameters and words that probes and dashboards know:
 * `?verbose` lists every check, `?exclude=NAME` leaves some out, `/readyz/NAME` runs one. Reasons of failures go to the
 * log only.
 */
import type { Logger } from "#base";

export interface HealthCheck {
  readonly name: string;
  /** Rejects when unhealthy. */
  check(): Promise<void>;
}

/** Called with the result of each check that ran. */
export type HealthObserver = (check: string, endpoint: string, isHealthy: boolean) => void;

export interface HealthAnswer {
  readonly status: 200 | 404 | 500;
  readonly body: string;
}

export interface HealthQuestion {
  /** healthz, livez or readyz. */
  readonly endpoint: string;
  /** The name of a single check: the rest of the path. */
  readonly only?: string | undefined;
  readonly verbose: boolean;
  readonly exclude: readonly string[];
}

export async function answerHealth(
  { endpoint, only, verbose, exclude }: HealthQuestion,
  checks: readonly HealthCheck[],
  log: Logger,
  observe: HealthObserver = () => {},
): Promise<HealthAnswer> {
  if (only !== undefined) {
    const check = checks.find(({ name }) => name === only);
    if (check === undefined) return { status: 404, body: "404 page not found\n" };
    const failure = await failureOf(check, endpoint, log, observe);
    return failure ? { status: 500, body: "internal server error: reason withheld\n" } : { status: 200, body: "ok" };
  }

  const lines = await Promise.all(
    checks.map(async (check) => {
      if (exclude.includes(check.name)) return `[+]${check.name} excluded: ok`;
      return (await failureOf(check, endpoint, log, observe))
        ? `[-]${check.name} failed: reason withheld`
        : `[+]${check.name} ok`;
    }),
  );
  const unknown = exclude.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => `"${name}"`).join(",")}`,
    );
  }
  const healthy = lines.every((line) => !line.startsWith("[-]"));
  if (healthy && !verbose) return { status: 200, body: "ok" };
  return {
    status: healthy ? 200 : 500,
    body: `${[...lines, `${endpoint} check ${healthy ? "passed" : "failed"}`].join("\n")}\n`,
  };
}

async function failureOf(check: HealthCheck, endpoint: string, log: Logger, observe: HealthObserver): Promise<boolean> {
  try {
    await check.check();
    observe(check.name, endpoint, true);
    return false;
  } catch (error) {
    observe(check.name, endpoint, false);
    log.warn("health check failed", { endpoint, check: check.name, error });
    return true;
  }
}
