/** Small signs: a state with its tone, an age that grows, what a collection has to say when it is not simply there. */

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
  const told = [...new Set(states.map(({ value }) => noticeOf(value)).filter((words) => words !== ""))];
  return told.length === 0 ? null : (
    <div class="notice" role="status">
      {told.map((words) => (
        <p key={words}>{words}</p>
      ))}
    </div>
  );
}

function noticeOf({ phase, words }: CollectionState): string {
  switch (phase) {
    case "forbidden":
      return `You may not see this: ${words}`;
    case "failed":
      return `This could not be read, and is tried again: ${words}`;
    case "interrupted":
      return `Not live at the moment, and is tried again: ${words}`;
    default:
      return "";
  }
}
