/** The ports of this machine that the dashboard forwards. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { wordsOf } from "../api/request.ts";
import { Head } from "../parts/head.tsx";
import { State } from "../parts/state.tsx";
import { objectRoute } from "../route.ts";
import { every } from "../time.ts";
import { addressOf, closeForward, type Forward, forwardState, listForwards } from "./forwards.ts";

const LOOK_MS = 2000;

export function ForwardsView() {
  const forwards = useSignal<readonly Forward[] | undefined>(undefined);
  const words = useSignal("");
  const news = useSignal("");
  const look = async (signal: AbortSignal) => {
    try {
      forwards.value = await listForwards(signal);
      words.value = "";
    } catch (error) {
      if (!signal.aborted) words.value = wordsOf(error);
    }
  };
  useEffect(() => {
    const abort = new AbortController();
    void look(abort.signal);
    const stop = every(LOOK_MS, () => void look(abort.signal));
    return () => {
      stop();
      abort.abort();
    };
  }, []);
  const close = async (forward: Forward) => {
    try {
      await closeForward(forward.id);
      forwards.value = forwards.peek()?.filter(({ id }) => id !== forward.id);
      news.value = `Port ${forward.localPort} is closed.`;
    } catch (error) {
      words.value = wordsOf(error);
    }
  };
  const all = forwards.value;
  return (
    <section>
      <Head title="Forwards" count={all === undefined ? undefined : String(all.length)} namespaced={false} />
      {words.value !== "" && (
        <p class="notice" role="alert">
          {words.value}
        </p>
      )}
      <p class="unseen" role="status">
        {news.value}
      </p>
      {all === undefined && words.value === "" && <p class="dim">Loading …</p>}
      {all?.length === 0 && (
        <p class="dim">No port is forwarded. The button Forward of a Pod or a Service opens one, on loopback only.</p>
      )}
      {all !== undefined && all.length > 0 && (
        <div class="panel">
          <ul class="list" aria-label="Forwarded ports">
            {all.map((each) => (
              <li key={each.id} class="forward">
                <a class="address" href={addressOf(each)} target="_blank" rel="noreferrer">
                  127.0.0.1:{each.localPort}
                </a>
                <span class="grow">
                  <span aria-hidden="true">→ </span>
                  <a href={objectRoute({ group: "", version: "v1", plural: each.resource, ...placeIn(each) })}>
                    {each.resource === "pods" ? "Pod" : "Service"} {each.name}
                  </a>
                  :{each.port} <span class="dim">in {each.namespace}</span>
                  {each.resource === "services" && <span class="dim">, now Pod {each.pod}</span>}
                </span>
                <State {...forwardState(each)} />
                <button type="button" aria-label={`Close port ${each.localPort}`} onClick={() => void close(each)}>
                  Close
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function placeIn({ namespace, name }: Forward) {
  return { namespace, name };
}
