/** What recording takes by itself, in this process, without a server. */
import { realClock } from "#base";
import { Recorder } from "#flows";
import { flowObserver } from "../../src/apiserver/flows/observer.ts";
import type { Authenticated } from "../../src/apiserver/pipeline/exchange.ts";

const ROUNDS = 5;
const REQUESTS = 200_000;
/** As many as look at a ConfigMap. */
const PLUGINS = ["A", "B", "C"];
const MAPS = "/api/v1/namespaces/default/configmaps/";

/** What is added to one request, admission and a write included where there are any; the best of some rounds. */
export function stepMicroseconds(verb: "get" | "create"): number {
  const clock = realClock();
  const observer = flowObserver({ recorder: new Recorder(), revision: () => 1, clock });
  const response = { status: 200, headers: {}, body: [] };
  const topic = { isResourceRequest: true, verb, apiGroup: "", resource: "configmaps", subresource: "" };
  const exchangeOf = (name: string) =>
    ({
      info: { ...topic, topic, namespace: "default", name },
      user: { name: "admin" },
      original: { headers: { "user-agent": "bench" } },
      annotations: new Map(),
      witness: undefined,
    }) as unknown as Authenticated;
  const admit = ({ witness }: Authenticated) => {
    witness?.asked(PLUGINS);
    for (const _ of PLUGINS) witness?.passed();
  };
  const recorded = (exchange: Authenticated, name: string, revision: number) => {
    observer.begins(exchange, 0);
    if (verb === "create") {
      admit(exchange);
      admit(exchange);
      exchange.witness?.wrote({ namespace: "default", name, uid: name }, revision, "ADDED");
    }
    observer.answered(exchange, response, 0, 1);
  };
  const round = (isRecorded: boolean) => {
    const start = clock.monotonic();
    for (let count = 0; count < REQUESTS; count++) {
      // As a server has it: the end of a path.
      const name = `${MAPS}config-${count}`.slice(MAPS.length);
      const exchange = exchangeOf(name);
      if (isRecorded) recorded(exchange, name, count);
    }
    return ((clock.monotonic() - start) * 1000) / REQUESTS;
  };
  let [bare, whole] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn < ROUNDS; turn++) {
    bare = Math.min(bare, round(false));
    whole = Math.min(whole, round(true));
  }
  return whole - bare;
}
