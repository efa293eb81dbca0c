import { describe, expect, it } from "vitest";
import type { ApiResponse } from "../http/exchange.ts";
import { compose, passThrough, type Step } from "./compose.ts";
import type { Arrived, Attributed, Authenticated, Authorized, Received } from "./exchange.ts";

const OK: ApiResponse = { status: 200, headers: {}, body: [] };

interface Walked {
  readonly names: string[];
}

/** Notes that it was there, before and after the others. */
function noting(name: string): Step<Walked> {
  return (exchange, next) => {
    exchange.names.push(name);
    const answer = next(exchange);
    exchange.names.push(`${name} again`);
    return answer;
  };
}

describe("compose", () => {
  it("runs the steps in source order, each around those after it", async () => {
    const names: string[] = [];
    const run = compose<Walked>()
      .step(noting("first"))
      .step(passThrough<Walked>)
      .step(noting("second"))
      .end((exchange) => {
        exchange.names.push("end");
        return OK;
      });
    expect(await run({ names })).toBe(OK);
    expect(names).toEqual(["first", "second", "end", "second again", "first again"]);
  });

  it("ends with the step that answers", async () => {
    const refused: ApiResponse = { status: 429, headers: {}, body: [] };
    const run = compose<Walked>()
      .step(() => refused)
      .end(() => OK);
    expect(await run({ names: [] })).toBe(refused);
  });
});

/** What follows is checked by the compiler alone. */
describe("the type of the exchange", () => {
  const requestInfo = {} as Step<Arrived, Received>;
  const authenticate = {} as Step<Received, Authenticated>;
  const audit = {} as Step<Authenticated>;
  const impersonate = {} as Step<Authenticated, Attributed>;
  const fairness = {} as Step<Attributed>;
  const authorize = {} as Step<Attributed, Authorized>;
  const serve = {} as (exchange: Authorized) => ApiResponse;

  it("grows with each step", () => {
    compose<Arrived>()
      .step(requestInfo)
      .step(authenticate)
      .step(audit)
      .step(impersonate)
      .step(fairness)
      .step(authorize)
      .end(serve);
  });

  it("refuses a step in front of what it needs", () => {
    const steps = compose<Arrived>();
    // @ts-expect-error: what the request is about is not known yet
    steps.step(authenticate);
    const received = steps.step(requestInfo);
    // @ts-expect-error: the caller is not known yet
    received.step(audit);
    // @ts-expect-error: the caller is not known yet
    received.step(impersonate);
    const authenticated = received.step(authenticate).step(audit);
    // @ts-expect-error: the user in whose name it is answered is not known yet
    authenticated.step(fairness);
    // @ts-expect-error: the attributes to authorize are not known yet
    authenticated.step(authorize);
    const attributed = authenticated.step(impersonate).step(fairness);
    // @ts-expect-error: it is not authorized
    attributed.end(serve);
  });
});
