/** Small parts: a state with its tone, a live age, and the message of a collection that is not available. */

import type { ReadonlySignal } from "@preact/signals";
import type { CollectionState } from "../api/collection.ts";
import { age } from "../model/age.ts";
import type { Tone } from "../model/pod.ts";
import { usePage } from "../page.ts";

export function State({ tone, words }: { readonly tone: Tone; readonly words: string }) {
  return (
    <span class={`state ${tone}`} title={words}>
      <i aria-hidden="true" />
      {words}
    </span>
  );
}

export function Age({ since }: { readonly since: string | undefined }) {
  const page = usePage();
  return (
    <time class="num" dateTime={since} title={since}>
      {age(since, page.now.value)}
    </time>
  );
}

export function Notice({ states }: { readonly states: readonly ReadonlySignal<CollectionState>[] }) {
  const all = states.map(({ value }) => value);
  const forbidden = [...new Set(all.filter(({ phase }) => phase === "forbidden").map(({ words }) => words))];
  const told = [...new Set(all.map(troubleOf).filter((words) => words !== ""))];
  if (forbidden.length === 0 && told.length === 0) return null;
  return (
    <div class="notice" role="status">
      {forbidden.length === 1 && <p>Forbidden: {forbidden[0]}</p>}
      {forbidden.length > 1 && (
        <details>
          <summary>Forbidden: {forbidden.map(resourceOf).join(", ")}.</summary>
          {forbidden.map((words) => (
            <p key={words}>{words}</p>
          ))}
        </details>
      )}
      {told.map((words) => (
        <p key={words}>{words}</p>
      ))}
    </div>
  );
}

/** `pods is forbidden: User …` is about pods. */
function resourceOf(words: string): string {
  return words.split(" is forbidden", 1)[0] ?? words;
}

function troubleOf({ phase, words }: CollectionState): string {
  if (phase === "failed") return `Reading failed, trying again: ${words}`;
  return phase === "interrupted" ? `Not live at the moment, reconnecting: ${words}` : "";
}
