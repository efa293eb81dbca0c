/** GET /healthz: the health of the kubelet, in total and by check. */
import { table } from "#base";
import type { Answer, Ask } from "./exchange.ts";
import { text } from "./exchange.ts";
import type { HealthObserver } from "./own-metrics.ts";
import type { Served } from "./served.ts";

type Check = () => string | undefined;

export function health(
  { kubelet }: Served,
  { rest, query }: Pick<Ask, "rest" | "query">,
  observe: HealthObserver,
): Answer {
  const checks = table<Check>({
    ping: () => undefined,
    log: () => undefined,
    syncloop: () => kubelet.problem(),
  });
  const [only] = rest;
  if (only !== undefined && only !== "") {
    const check = checks[only];
    if (check === undefined) return text(404, "404 page not found\n");
    const problem = check();
    observe(only, problem === undefined);
    return problem === undefined ? text(200, "ok") : text(500, `internal server error: ${problem}\n`);
  }
  const results = Object.entries(checks).map(([name, check]) => ({ name, problem: check() }));
  for (const { name, problem } of results) observe(name, problem === undefined);
  const lines = results.map(({ name, problem }) =>
    problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
  );
  if (results.some(({ problem }) => problem !== undefined))
    return text(500, `${lines.join("\n")}\nhealthz check failed\n`);
  return text(200, query.has("verbose") ? `${lines.join("\n")}\nhealthz check passed\n` : "ok");
}
