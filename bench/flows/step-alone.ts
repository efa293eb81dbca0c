/** What recording takes by itself, in this process, without a server. */
import { realClock } from "#base";
import { Recorder } from "#flows";
import { flowStep } from "../../src/apiserver/flows/step.ts";
import type { Exchange } from "../../src/apiserver/pipeline.ts";

/** What the step adds to an answer that is there at once; the best of some rounds. */
export async function stepMicroseconds(): Promise<number> {
  const clock = realClock();
  const step = flowStep({ recorder: new Recorder(), revision: () => 1, clock });
  const response = { status: 200, headers: {}, body: [] };
  const next = () => Promise.resolve(response);
  const info = { isResourceRequest: true, verb: "get", apiGroup: "", resource: "configmaps", subresource: "" };
  const exchangeOf = (count: number) =>
    ({
      info: { ...info, namespace: "default", name: `config-${count}` },
      user: { name: "admin" },
      original: { headers: { "user-agent": "bench" } },
      annotations: new Map(),
    }) as unknown as Exchange;
  const round = async (handle: (exchange: Exchange) => Promise<unknown>) => {
    const start = clock.monotonic();
    for (let count = 0; count < 200_000; count++) await handle(exchangeOf(count));
    return (clock.monotonic() - start) / 200;
  };
  let [bare, recorded] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn < 5; turn++) {
    bare = Math.min(bare, await round(next));
    recorded = Math.min(recorded, await round((exchange) => step(exchange, next)));
  }
  return recorded - bare;
}
