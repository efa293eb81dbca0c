import { describe, expect, it } from "vitest";
import { MetricsRegistry, VirtualClock } from "#base";
import { authenticator } from "./authenticator.ts";
import { authenticationMetrics } from "./metrics.ts";
import { request } from "./testing/requests.ts";
import { cached } from "./token-cache.ts";
import { refused, type TokenAuthenticator } from "./verdict.ts";

function world() {
  const registry = new MetricsRegistry();
  const clock = new VirtualClock();
  const metrics = authenticationMetrics(registry, clock);
  /** Samples that have counted something, without buckets and sums. */
  const counted = (start: string) =>
    registry
      .text()
      .split("\n")
      .filter((line) => line.startsWith(start) && !line.endsWith(" 0") && !/_(bucket|sum)[{ ]/.test(line))
      .map((line) => line.slice(start.length));
  return { clock, metrics, counted };
}

const tokens: TokenAuthenticator = async (token) =>
  token === "bad" ? refused("no") : { user: { name: token, groups: [] } };
const bearer = (token: string) => request({ headers: [["authorization", `Bearer ${token}`]] });

describe("metrics of authentication", () => {
  it.each<{ name: string; given: Parameters<ReturnType<typeof authenticator>>[0]; want: readonly string[] }>([
    { name: "a known user", given: bearer("admin"), want: ["success", "admin"] },
    { name: "an address", given: bearer("ann@acme.com"), want: ["success", "email_id"] },
    { name: "another user", given: bearer("ann"), want: ["success", "other"] },
    {
      name: "a component in this process",
      given: request({ user: { name: "x", groups: [] } }),
      want: ["success", "other"],
    },
    { name: "a bad token", given: bearer("bad"), want: ["error"] },
    { name: "no credentials", given: request(), want: ["failure"] },
  ])("count $name", async ({ given, want: [result, username] }) => {
    const { metrics, counted } = world();
    const authenticate = authenticator({ tokens, anonymous: () => ({ enabled: false }), metrics });
    await Promise.resolve(authenticate(given)).catch(() => {});
    expect(counted("authentication_")).toEqual([
      `attempts{result="${result}"} 1`,
      `duration_seconds_count{result="${result}"} 1`,
    ]);
    expect(counted("authenticated_user_requests")).toEqual(
      username === undefined ? [] : [`{username="${username}"} 1`],
    );
  });

  it("count tokens that are remembered, fetched and waited for", async () => {
    const { clock, metrics, counted } = world();
    const gate = Promise.withResolvers<void>();
    const slow: TokenAuthenticator = async (token, audiences) => {
      await gate.promise;
      return tokens(token, audiences);
    };
    const ask = cached(slow, { clock, successMs: 1_000, failureMs: 0, metrics: metrics.tokenCache });
    const waiting = [ask("ann", []), ask("ann", []), ask("bad", [])];
    const start = "authentication_token_cache_";
    expect(counted(`${start}active`)).toEqual([
      '_fetch_count{status="in_flight"} 2',
      '_fetch_count{status="blocked"} 3',
    ]);
    gate.resolve();
    await Promise.all(waiting);
    await ask("ann", []);
    expect(counted(start)).toEqual([
      'request_total{status="hit"} 1',
      'request_total{status="miss"} 3',
      'request_duration_seconds_count{status="hit"} 1',
      'request_duration_seconds_count{status="miss"} 3',
      'fetch_total{status="ok"} 1',
      'fetch_total{status="error"} 1',
    ]);
  });

  it("count the time that certificates are still valid", () => {
    const { metrics, counted } = world();
    for (const days of [-1, 1.5, 1.5, 800]) metrics.certificateSeen(days * 24 * 3_600_000);
    const name = "apiserver_client_certificate_expiration_seconds";
    expect(counted(`${name}_count`)).toEqual([" 4"]);
  });

  it("have no issuer's name", () => {
    const { metrics, counted } = world();
    metrics.jwtAuthenticated("https://issuer.example", "failure", 0);
    const [line] = counted("apiserver_authentication_jwt_authenticator_latency_seconds_count");
    expect(line).toMatch(/^\{result="failure",jwt_issuer_hash="sha256:[0-9a-f]{64}"\} 1$/);
  });
});
