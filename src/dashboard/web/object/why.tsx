/** Why an object is in its state, in the words of `k8ts why`; asked again when the object changes. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { askDashboard, Refused, wordsOf } from "../api/request.ts";
import type { ObjectPlace } from "../route.ts";
import { sleep } from "../time.ts";

interface Answer {
  readonly what: string;
  readonly because: readonly { readonly text: string; readonly evidence: string }[];
  readonly help: readonly string[];
}

/** Changes come in groups. */
const SETTLE_MS = 300;

export function Why({ place, version }: { readonly place: ObjectPlace; readonly version: string | undefined }) {
  const answer = useSignal<Answer | undefined>(undefined);
  const words = useSignal("");
  /** The server explains objects of this kind. */
  const isKnown = useSignal(true);
  useEffect(() => {
    const abort = new AbortController();
    void sleep(answer.peek() === undefined ? 0 : SETTLE_MS, abort.signal).then(async () => {
      if (abort.signal.aborted) return;
      try {
        answer.value = await explained(place, abort.signal);
        words.value = "";
      } catch (error) {
        if (abort.signal.aborted) return;
        isKnown.value = !(error instanceof Refused && error.code === 404);
        words.value = isKnown.value ? wordsOf(error) : "";
      }
    });
    return () => abort.abort();
  }, [place, version, answer, words]);
  const found = answer.value;
  if (!isKnown.value) return <p class="notice">No explanation beyond its conditions and events.</p>;
  if (found === undefined && words.value === "") return null;
  return (
    <section class="why" aria-label="Why">
      <h2>{found?.what ?? "Why"}</h2>
      {words.value !== "" && <p class="dim">{words.value}</p>}
      {found !== undefined && (
        <ol>
          {found.because.map(({ text, evidence }) => (
            <li key={text}>
              {text} <span class="evidence">({evidence})</span>
            </li>
          ))}
        </ol>
      )}
      {found !== undefined && found.help.length > 0 && (
        <ul class="help" aria-label="What would help">
          {found.help.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function explained({ plural, group, namespace, name }: ObjectPlace, signal: AbortSignal): Promise<Answer> {
  return askDashboard(`why?${new URLSearchParams({ resource: plural, group, namespace, name })}`, { signal });
}
